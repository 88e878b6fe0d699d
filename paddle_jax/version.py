"""The version of Paddle whose API this is, in the form of `paddle.version`."""

from __future__ import annotations

from typing import Any

full_version = "3.3.1"
major = "3"
minor = "3"
patch = "1"
rc = "0"
cuda_version = cudnn_version = cinn_version = "False"
xpu_xre_version = xpu_xccl_version = xpu_xhpc_version = "False"
tensorrt_version = "None"
nccl_version = "0"
is_tagged = True
commit = "paddle_jax"
with_mkl = with_pip_cuda_libraries = with_pip_tensorrt = "OFF"
with_hml = ""
hip = hip_version = None
compiled_cuda_archs: list[Any] = []


def cuda() -> str:
    """The CUDA version as text: "False", since XLA brings its own."""
    return cuda_version


def cudnn() -> str:
    """The cuDNN version as text: "False", since XLA brings its own.

    Returns:
        str.
    Example:
        >>> paddle.version.cudnn()
        'False'
    """
    return cudnn_version


def nccl() -> str:
    """The NCCL version as text.

    Returns:
        str.
    Example:
        >>> paddle.version.nccl()
        '0'
    """
    return nccl_version


def xpu() -> str:
    """The version of XPU's runtime as text: "False", there is none.

    Returns:
        str.
    Example:
        >>> paddle.version.xpu()
        'False'
    """
    return xpu_xre_version


xpu_xre = xpu


def xpu_xccl() -> str:
    """The version of XPU's communication library as text: "False", there is none.

    Returns:
        str.
    Example:
        >>> paddle.version.xpu_xccl()
        'False'
    """
    return xpu_xccl_version


def xpu_xhpc() -> str:
    """The version of XPU's kernels as text: "False", there are none.

    Returns:
        str.
    Example:
        >>> paddle.version.xpu_xhpc()
        'False'
    """
    return xpu_xhpc_version


def tensorrt() -> str:
    """The version of TensorRT as text: "None", there is none.

    Returns:
        str.
    Example:
        >>> paddle.version.tensorrt()
        'None'
    """
    return tensorrt_version


def cuda_archs() -> list[Any]:
    """The GPU generations that kernels were built for: none, since XLA compiles for what it finds.

    Returns:
        list.
    Example:
        >>> paddle.version.cuda_archs()
        []
    """
    return []


def cinn() -> str:
    """The version of Paddle's compiler as text: "False", since XLA compiles."""
    return cinn_version


def mkl() -> str:
    """Whether MKL computes: "OFF", since XLA has kernels of its own."""
    return with_mkl


def hml() -> str:
    """Whether HML computes, as text: "", it is not there."""
    return with_hml


def show() -> None:
    """Prints the versions, in Paddle's words.

    Example:
        >>> paddle.version.show()  # doctest: +ELLIPSIS
        full_version: 3.3.1
        ...
    """
    facts = {
        "full_version": full_version,
        "major": major,
        "minor": minor,
        "patch": patch,
        "rc": rc,
        "cuda": cuda_version,
        "cudnn": cudnn_version,
        "hip": hip,
        "nccl": nccl_version,
        "xpu_xre": xpu_xre_version,
        "xpu_xccl": xpu_xccl_version,
        "xpu_xhpc": xpu_xhpc_version,
        "cinn": cinn_version,
        "tensorrt_version": tensorrt_version,
        "cuda_archs": cuda_archs(),
    }
    for name, value in facts.items():
        print(f"{name}: {value}")
