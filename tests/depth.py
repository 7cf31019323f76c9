"""How deep the tests go: `make test` tries a covering part of what `make test-slow` tries all of.

A test of properties takes its number of examples from the profiles in conftest.py. A test that goes through a crossing
by itself asks THOROUGH, and is marked `thinned` unless it is a test of properties: `make test-slow` runs both.
"""

import os

THOROUGH = os.environ.get("SEQ2SEE_TESTS") == "thorough"
