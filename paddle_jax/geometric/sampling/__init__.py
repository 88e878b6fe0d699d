"""Random neighbours in a graph."""

from paddle_jax.geometric.sampling.neighbors import sample_neighbors, weighted_sample_neighbors
