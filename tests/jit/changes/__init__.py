"""Functions whose surroundings change between two calls: each gives (function of x, change). What changes is
state of Python, of any kind.

After the change a compiled function gives what the function itself gives. Importing the families notes their
cases in CASES by name.
"""

from tests.jit.changes import (
    cached,
    calls,
    classes,
    containers,
    forms,
    habits,
    layers,
    made,
    objects,
    process,
    values,
)
from tests.jit.changes.cases import CASES
