"""Which columns depend on each other?"""
