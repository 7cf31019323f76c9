"""Recurrent parts, which the decoders of rnn, rnnsearch and luong share: cells, their formulas, an encoder."""
