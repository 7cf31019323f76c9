"""One page of a lesson in a terminal, as an HTML file, as a notebook."""
