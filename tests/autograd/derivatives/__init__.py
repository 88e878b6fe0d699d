"""The table of derivatives: an expression for every differentiable op, checked at order 1 to 4, in
forward mode and mixed."""
