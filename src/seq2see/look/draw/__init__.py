"""Heatmaps of attention maps: terminal, picture, page."""
