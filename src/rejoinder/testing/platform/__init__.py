"""A fake chat platform with several personalities: as strict as the real ones, with faults, and with the ground truth.

In a test's own process it is `FakePlatform`. It can also be a separate process, which outlives a killed gateway:

    python -m rejoinder.testing.platform telegram --port 8081 --seed 7

`RemotePlatform` then speaks to it. `oracles` find what people must never see.
"""

from rejoinder.testing.platform.control import RemotePlatform
from rejoinder.testing.platform.fake import FakePlatform
from rejoinder.testing.platform.faults import Fault
from rejoinder.testing.platform.truth import Call, Frame, Seen, Truth

__all__ = ["Call", "FakePlatform", "Fault", "Frame", "RemotePlatform", "Seen", "Truth"]
