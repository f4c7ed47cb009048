"""Drawing of each kind of picture with matplotlib; other packages use `svg` and `pdf` beside this
folder.
"""
