from paddle_jax.distributed.fleet.utils.timer_helper import *
from paddle_jax.distributed.fleet.utils.timer_helper import Timers as Timers
from paddle_jax.distributed.fleet.utils.timer_helper import _GPUEventTimer as _GPUEventTimer
from paddle_jax.distributed.fleet.utils.timer_helper import _Timer as _Timer
from paddle_jax.distributed.fleet.utils.timer_helper import get_timers as get_timers
from paddle_jax.distributed.fleet.utils.timer_helper import is_timer_initialized as is_timer_initialized
from paddle_jax.distributed.fleet.utils.timer_helper import set_timers as set_timers
