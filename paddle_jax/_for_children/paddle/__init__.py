"""What `import paddle` finds in processes started by a program in which `paddle` is paddle_jax: the same.

`paddle_jax.alias` puts the folder above into PYTHONPATH. An interpreter that has no paddle_jax, or not what
it needs, imports the real Paddle.
"""

import importlib
import pathlib
import sys

_FOLDER = pathlib.Path(__file__).resolve().parent.parent
_PROJECT = str(_FOLDER.parent.parent)

if __name__ == "paddle":
    del sys.modules[__name__]
    try:
        if _PROJECT not in sys.path:
            sys.path.append(_PROJECT)  # a checkout that is not installed
        importlib.import_module("paddle_jax").install_as_paddle()
    except ImportError:
        sys.path[:] = [
            entry
            for entry in sys.path
            if pathlib.Path(entry or ".").resolve() != _FOLDER and entry != _PROJECT
        ]
        importlib.import_module("paddle")
