"""Inputs from hell for everything that reads a file.

    seeds ─▶ mutation ─▶ a folder of files ─▶ a reader in a child process ─▶ accepted, refused, or a finding

A reader may take an input or refuse it with an error of `seq2see.errors`. Anything else is a finding: another
exception, a signal, too much time or memory, a file touched outside its folder, foreign code. Every input follows from
(target, seed).
"""
