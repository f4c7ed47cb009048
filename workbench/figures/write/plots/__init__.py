"""Drawing of each kind of picture with matplotlib.

Other packages use `svg` and `pdf` beside this folder.
"""
