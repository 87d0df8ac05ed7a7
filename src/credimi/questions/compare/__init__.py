"""What differs between two samples, or between the groups of one?"""
