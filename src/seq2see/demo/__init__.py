"""With and without attention, side by side, in minutes: `seq2see demo`.

plan       which two models, on which pairs, with which settings
corpus     the pairs, and unseen sentences of every length
parallel   both trainings at the same time, a process each
progress   what a person sees meanwhile
findings   what came of it: quality by length, a long sentence, a map of attention, report.html
running    all of it in order
"""

from seq2see.demo.findings import Findings, show
from seq2see.demo.plan import Plan
from seq2see.demo.progress import DemoReporter
from seq2see.demo.running import run

__all__ = ["DemoReporter", "Findings", "Plan", "run", "show"]
