"""What all documents share: parts and slots, the text of a segment, translating and writing."""
