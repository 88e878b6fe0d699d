"""Rewriting of user functions: control flow on Tensors, and reads of Python state."""
