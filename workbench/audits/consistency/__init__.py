"""Whose answers a model's are, and which policy issues it supports (Ceron et al. 2024, section 7)."""
