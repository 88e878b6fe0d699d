from paddle_jax.sparse.binary import *
from paddle_jax.sparse.binary import add as add
from paddle_jax.sparse.binary import divide as divide
from paddle_jax.sparse.binary import is_same_shape as is_same_shape
from paddle_jax.sparse.binary import mask_as as mask_as
from paddle_jax.sparse.binary import masked_matmul as masked_matmul
from paddle_jax.sparse.binary import matmul as matmul
from paddle_jax.sparse.binary import multiply as multiply
from paddle_jax.sparse.binary import mv as mv
from paddle_jax.sparse.binary import subtract as subtract
