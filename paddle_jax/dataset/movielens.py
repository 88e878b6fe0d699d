"""Readers of ratings of films, as Paddle 1 gave them; `paddle.text.Movielens` is the class
for new programs."""

from __future__ import annotations

import functools as ft
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paddle_jax.dataset import common
from paddle_jax.text.datasets import movielens as parsed
from paddle_jax.text.datasets.movielens import AGES, MD5, URL

if TYPE_CHECKING:
    from paddle_jax.text.datasets.movielens import Catalogue


__all__ = []

age_table: list[int] = list(AGES)


class MovieInfo(parsed.MovieInfo):
    """A film: `index`, `title` (without the year), `categories`."""

    _origin = None  # the Catalogue it belongs to

    def value(self) -> list[Any]:
        """[index, numbers of the categories, numbers of the words of the title]; the dictionaries are
        those of the archive."""
        catalogue = self._origin or _catalogue()
        [index], *numbers = super().value(catalogue.categories_dict, catalogue.movie_title_dict)
        return [index, *numbers]


class UserInfo(parsed.UserInfo):
    """Somebody who rates: `index`, `is_male`, `age` (the number of a group), `job_id`."""

    def value(self) -> list[int]:
        """[index, 0 for men or 1 for women, group of age, job]."""
        return [number for [number] in super().value()]


def train(*, rand_seed: int = 0, test_ratio: float = 0.1) -> Callable[..., Any]:
    """The reader of the ratings for training.

    Args:
        rand_seed: int, the seed of the choice. Default 0.
        test_ratio: float, the share of ratings, chosen at random, that are for testing. Default 0.1.
    Returns:
        A function without arguments; its iterator gives lists: user, gender, group of age, job, film, its
        categories, words of its title, and the rating from -3 to 5 in a list.
    Differs from Paddle: words of titles and categories are numbered in the order of their letters (there the
    numbers change from run to run), and NumPy's random generator is left alone.
    """
    return lambda: _ratings(rand_seed, test_ratio, False)


def test(*, rand_seed: Any = 0, test_ratio: Any = 0.1) -> Callable[..., Any]:
    """The reader of the ratings for testing; otherwise as `train`.

    Differs from Paddle: as `train`.
    """
    return lambda: _ratings(rand_seed, test_ratio, True)


def get_movie_title_dict() -> dict[str, int]:
    """Numbers of the words of the titles."""
    return _catalogue().movie_title_dict


def movie_categories() -> dict[str, int]:
    """Numbers of the categories."""
    return _catalogue().categories_dict


def max_movie_id() -> int:
    """The largest number of a film."""
    return max(_catalogue().movie_info)


def max_user_id() -> int:
    """The largest number of somebody who rates."""
    return max(_catalogue().user_info)


def max_job_id() -> int:
    """The largest number of a job."""
    return max(user.job_id for user in _catalogue().user_info.values())


def user_info() -> dict[int, Any]:
    """The UserInfo of each number."""
    return _catalogue().user_info


def movie_info() -> dict[int, Any]:
    """The MovieInfo of each number."""
    return _catalogue().movie_info


def fetch() -> None:
    """Downloads the archive if it is not in `dataset.common.DATA_HOME`."""
    _archive()


def _archive() -> str:
    return common.download(URL, "movielens", MD5)


def _catalogue() -> Catalogue:
    path = _archive()
    # A file that has changed is read again.
    return _cached_catalogue(path, Path(path).stat().st_mtime_ns)


# The last file that was read, as long as it does not change.
@ft.lru_cache(maxsize=1)
def _cached_catalogue(path: str, changed: int) -> Catalogue:
    catalogue = parsed.Catalogue(path, MovieInfo, UserInfo)
    for film in catalogue.movie_info.values():
        film._origin = catalogue
    return catalogue


def _ratings(seed: int, test_ratio: float, test: bool) -> Iterator[Any]:
    catalogue = _catalogue()
    for user, movie, rating in parsed.ratings_in(_archive(), seed, test_ratio, test):
        yield [*catalogue.user_info[user].value(), *catalogue.movie_info[movie].value(), [rating]]
