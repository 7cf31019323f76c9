"""Files -> bytes -> lines or XML events: unpacked, decoded, within limits."""
