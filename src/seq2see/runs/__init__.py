"""The run folder: what it holds, who may write it, what it was trained on."""
