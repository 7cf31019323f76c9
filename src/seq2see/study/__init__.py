"""Mechanisms compared on equal terms: `seq2see study`.

config       the study file
cells        axes crossed into conditions, each with its seeds
identity     what a cell and a set are, as digests
widths       equal parameters, before anything is trained
plan         what is known already, what is to do, how long it takes
cell_run     one cell: trained, scored
measuring    the counts of every sentence, speed of decoding, alignment error
pool         cells in processes of this machine;  cluster: on Ray;  live: what a person sees meanwhile
results      results.json
statistics   intervals, paired tests, quality by length, from results.json alone;  table, page: table.md, report.html
running      all of it in order
"""
