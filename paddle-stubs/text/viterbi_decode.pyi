from paddle_jax.text.viterbi_decode import *
