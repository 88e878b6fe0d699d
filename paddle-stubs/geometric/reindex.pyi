from paddle_jax.geometric.reindex import *
from paddle_jax.geometric.reindex import reindex_graph as reindex_graph
from paddle_jax.geometric.reindex import reindex_heter_graph as reindex_heter_graph
