"""Ruling on what results rest on, from the screens that show it."""
