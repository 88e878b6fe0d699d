"""The tape and gradients: nodes, the walk back over them, gradients of kernels derived from equations."""
