"""The tape: one node for each recorded operation, and the backward pass over them."""
