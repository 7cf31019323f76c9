"""How a voice is measured."""
