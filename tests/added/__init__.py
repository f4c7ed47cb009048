"""Packages beside workbench that bring something to it by entry points."""
