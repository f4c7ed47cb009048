"""One audit per module: prompts from statements, verdicts from counts. Pure; knows neither stores
nor models.
"""
