"""What programs gave under the real Paddle, kept with the tests.

Starting the real Paddle takes seconds, and some programs train for a minute. The name of a record has a hash
of all that its results rest on: programs, arguments, input files, versions, the kind of processor. Where
something changed no record fits, and the program runs again.

`PADDLE_JAX_TEST_RECORDS=write` runs every program and writes records, `off` runs every program.
"""

import hashlib
import importlib.metadata
import importlib.util
import json
import lzma
import os
import platform
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from tests.cpu import no_avx512

FOLDER = Path(__file__).parent / "data" / "recorded"
LARGEST = 200_000  # bytes of a record; larger results are computed each time
MODE = "PADDLE_JAX_TEST_RECORDS"


def key_of(parts: Iterable[str | Path], distributions: Iterable[str] = ()) -> str:
    """The hash of texts, of the contents of files, and of installed versions.

    Args:
        parts: texts, and paths of files. The arrays of an .npz file count, not its bytes.
        distributions: names of installed distributions beside the real Paddle.
    """
    digest = hashlib.sha256()
    versions = [importlib.metadata.version(name) for name in ("paddlepaddle", *distributions)]
    for text in (*versions, platform.machine(), str(no_avx512())):
        digest.update(text.encode() + b"\0")
    for part in parts:
        digest.update(_content(part) + b"\0")
    return digest.hexdigest()[:16]


def _content(part: str | Path) -> bytes:
    if isinstance(part, str):
        return part.encode()
    if part.suffix != ".npz":
        return part.read_bytes()
    with np.load(part) as arrays:
        found = {key: arrays[key] for key in sorted(arrays)}
    return b"".join(f"{key}{a.dtype}{a.shape}".encode() + a.tobytes() for key, a in found.items())


def available(modules: Iterable[str] = ("paddle",)) -> bool:
    """Whether what the real run needs is installed."""
    return all(importlib.util.find_spec(module) is not None for module in modules)


def texts(name: str, key: str, compute: Callable[[], Any]) -> Any:
    """What `compute` gives, as JSON has it: from the record of this key, where there is one.

    Args:
        name: of the program; a record of another key under this name is removed when one is written.
        key: of `key_of`.
    """
    file = FOLDER / f"{name}-{key}.json.xz"
    if _is_read(file):
        return json.loads(lzma.decompress(file.read_bytes()))
    found = compute()
    _write(file, name, lzma.compress(json.dumps(found).encode()))
    return found


def arrays(name: str, key: str, compute: Callable[[], dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
    """As `texts`, for arrays by name."""
    file = FOLDER / f"{name}-{key}.npz"
    if _is_read(file):
        with np.load(file) as kept:
            return dict(kept)
    found = compute()
    # most programs that give more than this give networks
    if sum(array.nbytes for array in found.values()) <= 2 * LARGEST and os.environ.get(MODE) == "write":
        scratch = FOLDER / f"{name}.{os.getpid()}.npz"
        FOLDER.mkdir(exist_ok=True)
        np.savez_compressed(scratch, **found)
        data = scratch.read_bytes()
        scratch.unlink()
        _write(file, name, data)
    return found


def _is_read(file: Path) -> bool:
    return os.environ.get(MODE) not in ("write", "off") and file.exists()


def _write(file: Path, name: str, data: bytes) -> None:
    if os.environ.get(MODE) != "write" or len(data) > LARGEST:
        return
    FOLDER.mkdir(exist_ok=True)
    key_and_suffix = "-" + "[0-9a-f]" * 16 + ".*"
    for old in FOLDER.glob(name + key_and_suffix):
        old.unlink()
    file.write_bytes(data)
