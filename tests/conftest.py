"""How properties are tried, everywhere: a machine under load is no reason to fail."""

from hypothesis import Phase, settings

settings.register_profile("patient", deadline=None)
# For mutants.py, which wants to know whether a test fails and not on what smallest example.
settings.register_profile("unshrunk", deadline=None, phases=(Phase.explicit, Phase.generate))
settings.load_profile("patient")
