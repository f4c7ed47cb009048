"""Response text in, label or None out. Readers know lexicons and texts, neither data files nor stores."""
