"""One module a screen, with its `.tcss` beside it."""
