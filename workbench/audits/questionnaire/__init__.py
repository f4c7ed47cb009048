"""Questionnaire Modeling: what a person answers next (Haller et al. 2025)."""
