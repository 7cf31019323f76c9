"""What is compared: axes crossed into cells, each known by its digest, with as many parameters as its baseline."""
