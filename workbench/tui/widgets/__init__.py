"""Widgets that two screens or more use."""
