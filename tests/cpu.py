"""What the processor can do, where the real Paddle needs it."""

import platform
from pathlib import Path


def no_avx512():
    """Whether the system says so. Some kernels of the real Paddle then end in an illegal instruction."""
    known = Path("/proc/cpuinfo")
    return platform.machine() == "x86_64" and known.exists() and "avx512f" not in known.read_text()
