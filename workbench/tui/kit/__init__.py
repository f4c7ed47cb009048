"""Parts that the screens of all areas share."""
