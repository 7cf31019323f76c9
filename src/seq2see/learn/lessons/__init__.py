"""What the lessons compute: a file for each. What they say about it stands in texts/ under the same name."""
