"""Checks of arguments under the names that programs import."""

from paddle_jax._core.tensor import Tensor


def check_shape(shape, op_name, expected_shape_type=(list, tuple, Tensor), expected_element_type=(int, Tensor),
                expected_tensor_dtype=("int32", "int64")):
    """Checks the type of a shape while a static program is built; where operations run at once, as here, they check it themselves.

    Example:
        >>> paddle.check_shape([2, 3], "reshape")
    """
