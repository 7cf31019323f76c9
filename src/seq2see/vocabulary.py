"""The ids that mean the same in every vocabulary: padding, begin and end of a sequence, unknown."""

PAD, BOS, EOS, UNK = 0, 1, 2, 3
