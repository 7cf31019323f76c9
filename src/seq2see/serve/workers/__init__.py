"""The model processes: a queue in front of them, one pipe each."""
