"""Random neighbours in a graph."""

from paddle_jax.geometric.sampling.neighbors import (
    sample_neighbors as sample_neighbors,
    weighted_sample_neighbors as weighted_sample_neighbors,
)
