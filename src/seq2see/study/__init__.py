"""Mechanisms compared on equal terms: `seq2see study`.

definition   the study file, its cells, their digests, equal parameters
plan         what is known already, what is to do, how long it takes
execution    one cell from its first update to its scores; cells side by side, here or on Ray
results      results.json
tables       intervals, paired tests, quality by length, table.md and report.html, from results.json alone
running      all of it in order
"""
