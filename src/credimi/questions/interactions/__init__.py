"""Which pairs of columns inform more together than apart?"""
