"""Training: one loop, exact resume, a run folder that describes itself."""
