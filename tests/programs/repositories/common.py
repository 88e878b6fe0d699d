"""What the programs of this folder share: weights that both engines begin with, and the file that
a program leaves."""

import sys
from pathlib import Path

import numpy as np
import paddle


def settled(net, seed=0):
    """Gives each parameter with several axes normal numbers from NumPy, scaled by what goes into one output,
    and others that are added zeros."""
    rng = np.random.default_rng(seed)
    for name, value in net.named_parameters():
        if len(value.shape) > 1:
            inputs = np.prod(value.shape[1:]) if len(value.shape) > 2 else value.shape[0]
            value.set_value((rng.standard_normal(value.shape) / np.sqrt(inputs)).astype("float32"))
        elif "bias" in name:
            value.set_value(np.zeros(value.shape, "float32"))
    return net


def written(**values):
    """Writes arrays to the file named on the command line."""
    np.savez(
        sys.argv[2],
        engine=Path(paddle.__file__).parent.name,
        **{name: np.asarray(value) for name, value in values.items()},
    )
