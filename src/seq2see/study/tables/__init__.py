"""Results as figures: scores with intervals, tests against the baseline, what people read."""
