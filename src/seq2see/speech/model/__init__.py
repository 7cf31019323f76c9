"""Tacotron with style tokens, and its training task."""
