from paddle_jax.distributed.fleet.utils.fs import *
from paddle_jax.distributed.fleet.utils.fs import ExecuteError as ExecuteError
from paddle_jax.distributed.fleet.utils.fs import FS as FS
from paddle_jax.distributed.fleet.utils.fs import FSFileExistsError as FSFileExistsError
from paddle_jax.distributed.fleet.utils.fs import FSFileNotExistsError as FSFileNotExistsError
from paddle_jax.distributed.fleet.utils.fs import FSShellCmdAborted as FSShellCmdAborted
from paddle_jax.distributed.fleet.utils.fs import FSTimeOut as FSTimeOut
from paddle_jax.distributed.fleet.utils.fs import HDFSClient as HDFSClient
from paddle_jax.distributed.fleet.utils.fs import LocalFS as LocalFS
