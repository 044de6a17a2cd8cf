"""What holds for all tests."""

from hypothesis import settings

# How long an example takes is the machine's business; benchmarks measure time, tests do not.
settings.register_profile("rejoinder", deadline=None)
settings.load_profile("rejoinder")
