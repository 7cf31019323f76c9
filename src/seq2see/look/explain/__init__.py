"""One step of a model with its own numbers, and the lesson."""
