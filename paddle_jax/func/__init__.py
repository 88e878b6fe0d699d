"""Functions of functions: derivatives of every kind and batching of Paddle code. Ours; Paddle has
no such namespace.

Each takes a function of Tensors (or of lists, dicts and Layers of Tensors) and gives a function of the same
arguments. They can be applied to each other in any order, see what the function takes from outside (a layer's
parameters, say), and their results can be differentiated further with `backward` and `paddle.grad`.

    >>> f = paddle.func.vmap(paddle.func.grad(lambda x: (x ** 3).sum()))
    >>> f(paddle.to_tensor([[1.0], [2.0]])).tolist()
    [[3.0], [12.0]]
"""

from paddle_jax.func.batching import vmap
from paddle_jax.func.forward import hvp, jvp, laplacian, taylor
from paddle_jax.func.jacobians import hessian, jacfwd, jacrev
from paddle_jax.func.modules import functional_call, stack_states
from paddle_jax.func.reverse import grad, value_and_grad, vjp

__all__ = [
    "functional_call",
    "grad",
    "hessian",
    "hvp",
    "jacfwd",
    "jacrev",
    "jvp",
    "laplacian",
    "stack_states",
    "taylor",
    "value_and_grad",
    "vjp",
    "vmap",
]
