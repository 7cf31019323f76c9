"""Where a voice learns from."""
