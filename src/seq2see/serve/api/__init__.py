"""Our own API, for the page: what is asked, what a model process answers."""
