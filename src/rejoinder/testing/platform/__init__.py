"""A chat platform as a program with personalities: strict as the real one, with faults, and with the ground truth.

In a test's own process it is `FakePlatform`. It can also be a process of its own, which outlives a killed gateway:

    python -m rejoinder.testing.platform telegram --port 8081 --seed 7

`RemotePlatform` then speaks to it. What must never be seen is in `oracles`.
"""

from rejoinder.testing.platform.control import RemotePlatform
from rejoinder.testing.platform.fake import FakePlatform
from rejoinder.testing.platform.faults import Fault
from rejoinder.testing.platform.truth import Call, Frame, Seen, Truth

__all__ = ["Call", "FakePlatform", "Fault", "Frame", "RemotePlatform", "Seen", "Truth"]
