"""Several processes, one training."""
