"""Eager execution: arrays, kernels, Tensors, the tape and the declaration of operations.

Each room imports only rooms above it in this list: base, lazy, kernels, numpy_backend, process_group,
process, runner, tensors, tape, execution, ops.
"""
