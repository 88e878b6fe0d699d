from paddle_jax.base.variable_index import *
from paddle_jax.base.variable_index import _getitem_static as _getitem_static
from paddle_jax.base.variable_index import _setitem_static as _setitem_static
