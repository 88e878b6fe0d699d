from paddle_jax.distribution.student_t import *
