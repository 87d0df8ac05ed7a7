"""Which columns inform about the target?"""
