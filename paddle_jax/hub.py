"""Networks from folders and repositories with a file `hubconf.py`."""

from paddle_jax.hapi.hub import help, list, load, load_state_dict_from_url

__all__ = ["list", "help", "load", "load_state_dict_from_url"]
