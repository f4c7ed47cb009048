"""Jobs of models: starting, watching, pausing and retrying them."""
