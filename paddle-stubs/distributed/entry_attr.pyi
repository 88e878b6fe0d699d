from paddle_jax.distributed.entry_attr import *
from paddle_jax.distributed.entry_attr import EntryAttr as EntryAttr
