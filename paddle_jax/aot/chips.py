"""The chips that programs can be compiled for, with the figures of their data sheets.

Rates are peaks that makers state, for dense products, in operations per second. `network` is what a device
receives from its neighbours at most, one way, in bytes per second.
"""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True)
class Chip:
    """A chip.

    Attributes:
        name: str, as users write it.
        title: str, the maker's name.
        platform: str, "cpu", "tpu" or "cuda".
        memory: int, bytes; 0 where it is not known.
        bandwidth: float, bytes per second of the memory.
        network: float, bytes per second between devices.
        rates: dict from a dtype of HLO to operations per second; "tf32" is float32 with fewer digits.
        source: str, page of the figures.
        description: str, for a GPU the GpuTargetConfigProto of XLA as text.
        capability: str, for a GPU its compute capability, such as "9.0"; else None.
    """

    name: str
    title: str
    platform: str
    memory: int = 0
    bandwidth: float = 0.0
    network: float = 0.0
    rates: dict[str, float] = dataclasses.field(default_factory=dict)
    source: str = ""
    description: str = ""
    capability: str | None = None


_GPU = """\
gpu_device_info {{
  threads_per_block_limit: 1024
  threads_per_warp: 32
  shared_memory_per_block: 49152
  shared_memory_per_core: {shared_core}
  shared_memory_per_block_optin: {shared_block}
  threads_per_core_limit: 2048
  core_count: {cores}
  fpus_per_core: {units}
  block_dim_limit_x: 2147483647
  block_dim_limit_y: 65535
  block_dim_limit_z: 65535
  thread_dim_limit_x: 1024
  thread_dim_limit_y: 1024
  thread_dim_limit_z: 64
  memory_bandwidth: {bandwidth:.0f}
  l2_cache_size: {cache}
  clock_rate_ghz: {clock}
  device_memory_size: {memory}
  registers_per_core_limit: 65536
  registers_per_block_limit: 65536
  dnn_version: "9.10.0"
  cuda_compute_capability {{
    major: {major}
    feature_extension: {extension}
  }}
}}
platform_name: "CUDA"
dnn_version_info {{
  major: 9
  minor: 10
}}
device_description_str: "{title}"
"""


def _gpu(
    name: str,
    title: str,
    major: int,
    cores: int,
    units: int,
    clock: float,
    cache: int,
    shared: tuple[int, int],
    memory: int,
    bandwidth: float,
    network: float,
    rates: dict[str, float],
    source: str,
) -> Chip:
    """A GPU of NVIDIA.

    Args:
        major: first number of its compute capability.
        cores, units: how many multiprocessors, and how many float32 units each has.
        clock: in GHz.
        cache: bytes of the second-level cache.
        shared: bytes of shared memory of a multiprocessor, and at most of a block.
    """
    extension = "ACCELERATED_FEATURES" if major >= 9 else "NONE"
    description = _GPU.format(
        title=title,
        major=major,
        cores=cores,
        units=units,
        clock=clock,
        cache=cache,
        shared_core=shared[0],
        shared_block=shared[1],
        memory=memory,
        bandwidth=bandwidth,
        extension=extension,
    )
    capability = f"{major}.0"
    return Chip(name, title, "cuda", memory, bandwidth, network, rates, source, description, capability)


def _tpu(
    name: str, title: str, memory: int, bandwidth: float, network: float, bf16: float, int8: float
) -> Chip:
    """A TPU of Google. Its matrix units multiply bfloat16: float32 takes six such products."""
    # Six passes of bfloat16 give all digits of float32, three most of them.
    rates = {"bf16": bf16, "f16": bf16, "s8": int8, "f32": bf16 / 6, "tf32": bf16}
    source = f"https://docs.cloud.google.com/tpu/docs/{name}"
    return Chip(name, title, "tpu", memory << 30, bandwidth, network, rates, source)


_HOPPER = {
    "bf16": 989e12,
    "f16": 989e12,
    "s8": 1979e12,
    "f8": 1979e12,
    "tf32": 495e12,
    "f32": 67e12,
    "f64": 67e12,
}
_BLACKWELL = {
    "bf16": 2250e12,
    "f16": 2250e12,
    "s8": 4500e12,
    "f8": 4500e12,
    "tf32": 1125e12,
    "f32": 75e12,
    "f64": 37e12,
}
_AMPERE = {"bf16": 312e12, "f16": 312e12, "s8": 624e12, "tf32": 156e12, "f32": 19.5e12, "f64": 19.5e12}
_SHARED_HOPPER = (233472, 232448)
_NVIDIA = "https://www.nvidia.com/en-us/data-center/"

CHIPS = {
    chip.name: chip
    for chip in (
        Chip("cpu", "the processor of this machine", "cpu"),
        _tpu("v5e", "TPU v5e", 16, 819e9, 200e9, 197e12, 394e12),
        _tpu("v5p", "TPU v5p", 95, 2765e9, 600e9, 459e12, 918e12),
        _tpu("v6e", "TPU v6e", 32, 1640e9, 400e9, 918e12, 1836e12),
        _gpu(
            "a100",
            "NVIDIA A100-SXM4-80GB",
            8,
            108,
            64,
            1.41,
            40 << 20,
            (167936, 166912),
            85_100_068_864,
            2.039e12,
            300e9,
            _AMPERE,
            _NVIDIA + "a100/",
        ),
        _gpu(
            "h100",
            "NVIDIA H100 80GB HBM3",
            9,
            132,
            128,
            1.98,
            50 << 20,
            _SHARED_HOPPER,
            84_942_979_072,
            3.352e12,
            450e9,
            _HOPPER,
            _NVIDIA + "h100/",
        ),
        _gpu(
            "h200",
            "NVIDIA H200 141GB HBM3e",
            9,
            132,
            128,
            1.98,
            50 << 20,
            _SHARED_HOPPER,
            151_397_597_184,
            4.8e12,
            450e9,
            _HOPPER,
            _NVIDIA + "h200/",
        ),
        _gpu(
            "b200",
            "NVIDIA B200",
            10,
            148,
            128,
            1.965,
            132_644_864,
            _SHARED_HOPPER,
            191_514_411_008,
            7.672e12,
            900e9,
            _BLACKWELL,
            _NVIDIA + "dgx-b200/",
        ),
    )
}
