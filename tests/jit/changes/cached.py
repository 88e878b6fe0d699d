"""What functions give that keep their results, and arrays of objects."""

import functools

import numpy as np

from tests.jit.changes.cases import Box, case

FACTOR = [2.0]


@functools.lru_cache
def scaled(number):
    return FACTOR[0] * number


@functools.lru_cache
def settings():
    return {"scale": 2.0, "steps": [1.0, 2.0]}


@case
def a_cache_filled_anew():
    FACTOR[0] = 2.0
    scaled.cache_clear()

    def change():
        scaled.cache_clear()
        FACTOR[0] = 3.0
        scaled(9)

    return lambda x: x * scaled(4), change


@case
def an_item_of_a_cached_dict():
    settings.cache_clear()
    return lambda x: x * settings()["scale"], lambda: settings().update(scale=3.0)


@case
def the_content_of_a_cached_list():
    settings.cache_clear()
    return lambda x: x * sum(settings()["steps"]), lambda: settings()["steps"].append(5.0)


def objects(*items):
    array = np.empty(len(items), object)
    array[:] = items
    return array


@case
def an_item_of_an_array_of_objects():
    array = objects(2.0, "a", [1])
    return lambda x: x * array[0], lambda: array.__setitem__(0, 3.0)


@case
def an_attribute_of_an_object_in_an_array():
    array = objects(Box(scale=2.0), None)
    return lambda x: x * array[0].scale, lambda: vars(array[0]).update(scale=3.0)


@case
def a_list_in_an_array_of_objects():
    array = objects([1.0, 2.0], None)
    return lambda x: x * sum(array[0]), lambda: array[0].append(4.0)


@case
def an_array_of_objects_gone_through():
    array = objects(1.0, 2.0)
    return lambda x: x * sum(v for v in array), lambda: array.fill(3.0)


@case
def a_record():
    array = np.array([(2.0, 1)], dtype=[("scale", float), ("count", int)])
    return lambda x: x * float(array["scale"][0]), lambda: array["scale"].fill(3.0)


@case
def an_object_in_a_record():
    array = np.array([(2.0, 2.5)], dtype=[("scale", float), ("kind", object)])
    return lambda x: x * array[0]["kind"], lambda: array["kind"].fill(3.0)


@case
def a_record_that_is_held():
    array = np.array([(2.0, 1)], dtype=[("scale", float), ("count", int)])
    row = array[0]
    return lambda x: x * float(row["scale"]), lambda: array["scale"].fill(3.0)


class Table(np.ndarray):
    """An array of a class of the user."""


@case
def an_array_of_an_own_class():
    array = objects(2.0, 1.0).view(Table)
    return lambda x: x * array[0], lambda: array.fill(3.0)


@case
def an_attribute_of_an_array_of_an_own_class():
    array = np.array([2.0]).view(Table)
    array.scale = 2.0
    return lambda x: x * array.scale, lambda: setattr(array, "scale", 3.0)


@case
def the_mask_of_an_array():
    array = np.ma.array([1.0, 2.0], mask=[False, False])
    return lambda x: x * float(array.sum()), lambda: array.__setitem__(0, np.ma.masked)


@case
def how_full_a_cache_is():
    scaled.cache_clear()
    return lambda x: x * (1 + scaled.cache_info().currsize), lambda: scaled(9)


@case
def a_cached_function_that_map_calls():
    FACTOR[0] = 2.0
    scaled.cache_clear()

    def change():
        FACTOR[0] = 3.0
        scaled.cache_clear()

    return lambda x: x * sum(map(scaled, [1, 2])), change


@case
def the_surroundings_of_a_function_that_keeps_nothing():
    FACTOR[0] = 2.0
    compute = functools.lru_cache(maxsize=0)(lambda number: FACTOR[0] * number)
    return lambda x: x * compute(4), lambda: FACTOR.__setitem__(0, 3.0)
