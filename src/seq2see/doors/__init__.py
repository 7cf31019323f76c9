"""Models come in, models go out: folders and packages of other programs."""
