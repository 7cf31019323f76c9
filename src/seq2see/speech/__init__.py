"""Speech: text to sound with attention, and style from a reference recording."""
