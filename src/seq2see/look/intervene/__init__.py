"""What if: hooks on attentions, heads switched off, the posterior."""
