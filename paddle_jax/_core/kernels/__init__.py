"""Kernels: pure functions of arrays with fixed attributes, and their gradients."""
