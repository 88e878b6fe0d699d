"""What programs printed under the real Paddle, kept with the tests.

Starting the real Paddle takes seconds. The name of a record has a hash of all that its text rests on:
programs, arguments, version, the kind of processor. Where something changed no record fits, and the program
runs again.
Losses of training are not kept: rounding differs between processors, and training scales it up.

`PADDLE_JAX_TEST_RECORDS=write` runs every program and writes records, `off` runs every program.
"""

import hashlib
import importlib.metadata
import json
import lzma
import os
import platform
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from tests.cpu import no_avx512

FOLDER = Path(__file__).parent / "data" / "recorded"
MODE = "PADDLE_JAX_TEST_RECORDS"


def key_of(parts: Iterable[str | Path]) -> str:
    """The hash of texts, of the contents of files, of the version of the real Paddle, and of the processor.

    Args:
        parts: texts, and paths of files, whose contents count.
    """
    digest = hashlib.sha256()
    for text in (importlib.metadata.version("paddlepaddle"), platform.machine(), str(no_avx512())):
        digest.update(text.encode() + b"\0")
    for part in parts:
        digest.update((part.encode() if isinstance(part, str) else part.read_bytes()) + b"\0")
    return digest.hexdigest()[:16]


def texts(name: str, key: str, compute: Callable[[], Any]) -> Any:
    """What `compute` gives, as JSON has it: from the record of this key, where there is one.

    Args:
        name: of the program; a record of another key under this name is removed when one is written.
        key: of `key_of`.
    """
    file = FOLDER / f"{name}-{key}.json.xz"
    mode = os.environ.get(MODE)
    if mode not in ("write", "off") and file.exists():
        return json.loads(lzma.decompress(file.read_bytes()))
    found = compute()
    if mode == "write":
        FOLDER.mkdir(exist_ok=True)
        for old in FOLDER.glob(f"{name}-{'[0-9a-f]' * 16}.json.xz"):
            old.unlink()
        file.write_bytes(lzma.compress(json.dumps(found).encode()))
    return found
