"""What the processor can do, where the real Paddle needs it."""

import platform
from pathlib import Path


def with_bfloat16(paddle):
    """Lets Layer.bfloat16 of the real Paddle convert on CPUs without AVX-512, too, where it
    would do nothing."""
    paddle.framework.core.is_bfloat16_supported = lambda place: True


def no_avx512():
    """Whether the system says so. Some kernels of the real Paddle then end in an illegal instruction."""
    known = Path("/proc/cpuinfo")
    return platform.machine() == "x86_64" and known.exists() and "avx512f" not in known.read_text()
