"""The statement workshop: drafts, rules for English, checks of wordings. No input or output."""
