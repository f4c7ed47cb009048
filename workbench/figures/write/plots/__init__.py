"""How each kind of picture is drawn with matplotlib; `svg` and `pdf` beside this folder are what others use."""
