"""The server: one HTTP process that imports no torch, model processes behind it, and a page that shows everything."""
