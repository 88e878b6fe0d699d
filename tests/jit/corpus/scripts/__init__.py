"""Programs that are run twice, op by op and compiled; each returns what a user could see of it."""

from tests.jit.scenarios import training, gradients, state, arguments, precision
from tests.jit.scenarios.effects import EFFECTS
from tests.jit.scenarios.base import SCENARIOS, data, see, small, trainer
