"""What pruning keeps between calls: which layers it leaves out and which kinds it knows."""


class Sparsity:
    """The settings of `paddle.incubate.asp`, for the process."""

    excluded = set()  # names of layers or parameters
    # kinds of layers, each with its pruning function (None: the usual one)
    supported = {"fc": None, "linear": None, "conv2d": None}
