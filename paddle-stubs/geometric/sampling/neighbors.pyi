from paddle_jax.geometric.sampling.neighbors import *
from paddle_jax.geometric.sampling.neighbors import sample_neighbors as sample_neighbors
from paddle_jax.geometric.sampling.neighbors import weighted_sample_neighbors as weighted_sample_neighbors
