"""The version of Paddle whose API this is, in the form of `paddle.version`."""

full_version = "3.3.1"
major, minor, patch, rc = "3", "3", "1", "0"
cuda_version = cudnn_version = cinn_version = "False"
nccl_version = "0"
is_tagged = True
commit = "paddle_jax"
with_mkl = "OFF"


def cuda():
    """The CUDA version as text: "False", since XLA brings its own."""
    return cuda_version


def cudnn():
    """The cuDNN version as text: "False", since XLA brings its own."""
    return cudnn_version


def nccl():
    """The NCCL version as text."""
    return nccl_version


def show():
    """Prints the version."""
    import importlib.metadata

    print("full_version:", full_version)
    print("major:", major)
    print("minor:", minor)
    print("patch:", patch)
    print("rc:", rc)
    for name in ("paddle_jax", "jax", "jaxlib"):
        try:
            print(f"{name}:", importlib.metadata.version(name))
        except importlib.metadata.PackageNotFoundError:
            print(f"{name}: from source")
