"""Products of NumPy in one thread.

Unit tests of `_core.numpy_backend`.
"""

import numpy as np
import pytest

from paddle_jax._core.numpy_backend import blas_threads


@pytest.fixture
def set_numbers(monkeypatch):
    """The numbers of threads that are set, in order, beside an OpenBLAS that has 5."""
    numbers = []
    monkeypatch.setattr(blas_threads._Threads, "get", staticmethod(lambda: 5))
    monkeypatch.setattr(blas_threads._Threads, "set", staticmethod(numbers.append))
    return numbers


@pytest.mark.parametrize("size, numbers", [(16, []), (100, [1, 5]), (1024, [])])
def test_one_thread_for_products_of_middle_size(set_numbers, monkeypatch, size, numbers):
    monkeypatch.setattr(blas_threads, "_LARGE", 1 << 25)
    x = np.arange(size * size, dtype="float64").reshape(size, size) / size**2
    np.testing.assert_array_equal(blas_threads.matmul(x, np.eye(size)), x)
    assert set_numbers == numbers


def test_the_number_comes_back_after_an_error(set_numbers):
    with pytest.raises(ValueError, match="mismatch"):
        blas_threads.matmul(np.ones([100, 100]), np.ones([99, 100]))
    assert set_numbers == [1, 5]


def test_another_library_has_no_choice(monkeypatch):
    monkeypatch.setattr(blas_threads._Threads, "set", None)
    assert not blas_threads.has_choice()
    np.testing.assert_array_equal(blas_threads.matmul(np.eye(100), np.eye(100)), np.eye(100))
