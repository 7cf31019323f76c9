"""What every request passes, and how it is answered or refused."""
