from paddle_jax.text.datasets.imikolov import *
from paddle_jax.text.datasets.imikolov import Imikolov as Imikolov
