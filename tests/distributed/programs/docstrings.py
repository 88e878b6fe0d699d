"""Runs the docstring examples of collectives and parallel layers in this process, one of two.

Their examples do nothing in one process: there they only show what to write.
"""

import sys

import paddle_jax
from paddle_jax.distributed import fleet
from tests.docs.test_docstrings import examples, files_with_examples, run_examples

FOLDERS = ("distributed/communication/", "distributed/fleet/layers/mpu/")
GUARD = "get_world_size() == 2"


def main():
    strategy = fleet.DistributedStrategy()
    strategy.hybrid_configs = {"dp_degree": 1, "mp_degree": 2}
    fleet.init(is_collective=True, strategy=strategy)
    ran = 0

    def of_two_processes(text):
        nonlocal ran
        ran += GUARD in examples(text)
        return GUARD in text

    failures = []
    for file in files_with_examples():
        if file.startswith(FOLDERS):
            failures += run_examples(file, paddle_jax, of_two_processes)
    print("".join(failures))
    print(ran)
    return int(any(failures))


if __name__ == "__main__":
    sys.exit(main())
