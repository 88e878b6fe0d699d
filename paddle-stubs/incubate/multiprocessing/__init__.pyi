from paddle_jax.incubate.multiprocessing import *
