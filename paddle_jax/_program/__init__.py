"""The engine of compiled and recorded code, which `paddle.jit` and `paddle.static` share."""
