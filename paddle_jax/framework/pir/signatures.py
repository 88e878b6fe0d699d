"""The attributes of PIR operations that the writer makes on its own: name, kind and, where one is usual,
default. Others stand in the records of our ops (`known_as`), or have none.

Kinds: bool, i32, i64, f32, f64, str, dtype, place, lists i32s, i64s, f32s, f64s of them, and ints, a list of
int64 of its own kind. Read off the files that Paddle 3.3.1 writes. `fetch` and `data` are the outputs and
inputs of a program.
"""

import functools as ft

from paddle_jax.framework.pir.records import attribute
from paddle_jax.framework.pir.records import signature as recorded

_TEXT = """
arange dtype:dtype place:place
assign_value_ shape:i32s dtype:dtype values:f64s place:place
data name:str shape:ints dtype:dtype place:place
fetch name:str col:i32
full shape:ints value:f64 dtype:dtype place:place
full_int_array value:i64s dtype:dtype place:place
full_like dtype:dtype place:place
full_with_tensor dtype:dtype
linspace dtype:dtype place:place
pad paddings:i32s
pow y:f32
split_with_num num:i32
"""


@ft.cache
def listed():
    """{operation: its attributes} of those below."""
    found = {}
    for line in _TEXT.strip().splitlines():
        name, *attrs = line.split()
        found[name] = [(one.name, one.kind, one.default) for one in map(attribute, attrs)]
    return found


def signature(name):
    """[(attribute, kind, default)] of an operation; a default of None: it has to be given."""
    found = listed().get(name)
    return (recorded(name) or []) if found is None else found
