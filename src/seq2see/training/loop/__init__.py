"""The one training loop, which knows no model.

task        what it is handed (a task, a reporter) and what it hands out (updates, validations)
trainer     the loop: updates, validations, checkpoints, exact resume
plan        how many updates there will be;  schedule: the learning rate of each;  clock: what a second is
optimizer   AdamW with a state that is saved by name; averages of weights
metrics     metrics.jsonl
"""
