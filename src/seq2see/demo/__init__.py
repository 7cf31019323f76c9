"""With and without attention, side by side, in minutes: `seq2see demo`.

plan       which two models, on which pairs, with which settings
corpus     the pairs, and unseen sentences of every length
parallel   both trainings at the same time, a process each
watching   what a person sees meanwhile
findings   what came of it: quality by length, a long sentence, a map of attention, report.html
"""

from seq2see.demo.findings import Findings, find, show, write_report
from seq2see.demo.parallel import train_both, untrained
from seq2see.demo.plan import Plan, claim

__all__ = ["Findings", "Plan", "claim", "find", "show", "train_both", "untrained", "write_report"]
