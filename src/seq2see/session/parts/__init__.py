"""Any number of files translated in parts, on all cores of one machine or of many.

inputs        files as streams of lines, cut into fixed ranges
translating   what a worker makes of a range
folder        the parts that are made, and how they become files
spreading     who makes which part: Ray's actors, one a core
"""

from seq2see.session.parts.spreading import FilesTranslated, translate_files

__all__ = ["FilesTranslated", "translate_files"]
