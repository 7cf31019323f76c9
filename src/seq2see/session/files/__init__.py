"""Files of a bulk translation: lines as they are read, results in order, the parts of an output while it is made."""
