"""Sessions of people over items of a store: next item, decide, undo. No terminal is needed."""
