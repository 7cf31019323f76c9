"""What every verb shares: options, checks before torch is imported, messages, progress, standard streams."""
