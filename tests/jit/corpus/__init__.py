"""Programs that are run in every mode; importing the modules adds their programs."""

from tests.jit.corpus import (
    branches,
    calls,
    detection,
    expressions,
    lengths_from_shapes,
    lengths_of_values,
    lists,
    loops,
    models,
    refused,
    written,
)
from tests.jit.corpus.program import PROGRAMS
