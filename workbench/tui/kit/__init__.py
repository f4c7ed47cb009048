"""Parts that screens of every area share."""
