"""Which columns inform together, and which are needed?"""
