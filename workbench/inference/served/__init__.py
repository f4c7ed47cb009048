"""Models that an OpenAI-compatible endpoint serves."""
