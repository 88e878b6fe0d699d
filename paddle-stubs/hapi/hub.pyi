from paddle_jax.hapi.hub import *
from paddle_jax.hapi.hub import _check_dependencies as _check_dependencies
from paddle_jax.hapi.hub import _check_module_exists as _check_module_exists
from paddle_jax.hapi.hub import _get_cache_or_reload as _get_cache_or_reload
from paddle_jax.hapi.hub import _get_paddle_home as _get_paddle_home
from paddle_jax.hapi.hub import _git_archive_link as _git_archive_link
from paddle_jax.hapi.hub import _import_module as _import_module
from paddle_jax.hapi.hub import _load_entry_from_hubconf as _load_entry_from_hubconf
from paddle_jax.hapi.hub import _parse_repo_info as _parse_repo_info
from paddle_jax.hapi.hub import get_dir as get_dir
from paddle_jax.hapi.hub import help as help
from paddle_jax.hapi.hub import list as list
from paddle_jax.hapi.hub import load as load
from paddle_jax.hapi.hub import load_state_dict_from_url as load_state_dict_from_url
