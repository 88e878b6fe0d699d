"""What a Tensor is besides its array: names, layout, text, limits of its type, symbols in place of arrays."""
