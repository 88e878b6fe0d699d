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
