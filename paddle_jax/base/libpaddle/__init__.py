"""Paddle's C++ module. What it has is found by the table of paths; most of it is written in
`paddle_jax.base.core`."""
