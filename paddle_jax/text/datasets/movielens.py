"""Ratings of films (Harper and Konstan, The MovieLens Datasets, 2015)."""

from __future__ import annotations

import re
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np

from paddle_jax.io import Dataset
from paddle_jax.text.datasets.source import check_mode, located

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from os import PathLike

__all__ = []

URL = "https://dataset.bj.bcebos.com/movielens%2Fml-1m.zip"
MD5 = "c4d9eecfca2ab87c1945afe126590906"
AGES = (1, 18, 25, 35, 45, 50, 56)  # the youngest of each group
_TITLE = re.compile(r"(.*)\(\d+\)")


class MovieInfo:
    """A film: `index`, `title` (without the year), `categories`."""

    def __init__(self, index: str | int, categories: list[str], title: str) -> None:
        self.index: int = int(index)
        self.categories = categories
        self.title = title

    def value(self, categories_dict: dict[str, int], movie_title_dict: dict[str, int]) -> list[list[int]]:
        """[[index], numbers of the categories, numbers of the words of the title]."""
        return [
            [self.index],
            [categories_dict[name] for name in self.categories],
            [movie_title_dict[word] for word in self.title.lower().split()],
        ]

    def __repr__(self) -> str:
        return f"<MovieInfo id({self.index}), title({self.title}), categories({self.categories})>"


class UserInfo:
    """Somebody who rates: `index`, `is_male`, `age` (the number of a group), `job_id`."""

    age: int
    index: int
    is_male: bool
    job_id: int

    def __init__(self, index: str | int, gender: str, age: str | int, job_id: str | int) -> None:
        self.index, self.is_male, self.age, self.job_id = (
            int(index),
            gender == "M",
            AGES.index(int(age)),
            int(job_id),
        )

    def value(self) -> list[list[int]]:
        """[[index], [0 for men, 1 for women], [group of age], [job]]."""
        return [[self.index], [int(not self.is_male)], [self.age], [self.job_id]]

    def __repr__(self) -> str:
        return (
            f"<UserInfo id({self.index}), gender({'M' if self.is_male else 'F'}), age({AGES[self.age]}), "
            f"job({self.job_id})>"
        )


class Catalogue:
    """What the archive says of films and of those who rate: `movie_info`, `user_info`, and numbers of words,
    `movie_title_dict`, and of categories, `categories_dict`."""

    def __init__(
        self,
        path: str | PathLike[str],
        film: Callable[..., Any] = MovieInfo,
        user: Callable[..., Any] = UserInfo,
    ) -> None:
        with zipfile.ZipFile(path) as archive:
            movies = _rows(archive, "movies")
            users = _rows(archive, "users")
        self.movie_info: dict[int, Any] = {
            # A title ends in the year, which is no part of its words.
            int(index): film(index, kinds.split("|"), _TITLE.fullmatch(title)[1])
            for index, title, kinds in movies
        }
        self.user_info: dict[int, Any] = {
            int(index): user(index, gender, age, job) for index, gender, age, job, _ in users
        }
        films = self.movie_info.values()
        self.movie_title_dict: dict[str, int] = _numbered(
            word for film in films for word in film.title.lower().split()
        )
        self.categories_dict: dict[str, int] = _numbered(name for film in films for name in film.categories)


def ratings_in(
    path: str | PathLike[str], seed: int, test_ratio: float, test: bool
) -> Iterator[tuple[int, int, float]]:
    """(user, film, rating from -3 to 5) of those ratings that belong to the tests, or of the others."""
    with zipfile.ZipFile(path) as archive:
        ratings = _rows(archive, "ratings")
    # By the seed alone: both parts are made apart and must not overlap.
    chosen = np.random.RandomState(seed).random_sample(len(ratings)) < test_ratio
    for i in np.flatnonzero(chosen == test):
        user, movie, rating, _ = ratings[i]
        # 1 to 5 stars become -3 to 5.
        yield int(user), int(movie), float(rating) * 2 - 5.0


class Movielens(Dataset):
    """A million ratings of films: user, gender, age, job, film, its categories, words of its title, and the
    rating from -3 to 5.

    Args:
        data_file: path of `ml-1m.zip`. Default None: download it.
        mode: "train" or "test". Default "train".
        test_ratio: float, the share of ratings, chosen at random, that belong to "test". Default 0.1.
        rand_seed: int, the seed of that choice. Default 0.
        download: download the file if `data_file` is None. Default True.
    Attributes:
        test_ratio, rand_seed: as given.
        mode: str, "train" or "test".
        data_file: str, the archive.
        movie_info, user_info: dicts from numbers to MovieInfo and UserInfo.
        movie_title_dict, categories_dict: dicts from words and categories to numbers.
        data: list of the examples.
    Raises:
        AssertionError: the mode is unknown, or there is no file.
        FileNotFoundError: there is no such file.
    Example:
        >>> import zipfile
        >>> with zipfile.ZipFile("films.zip", "w") as archive:
        ...     archive.writestr("ml-1m/movies.dat", "7::Heat (1995)::Action|Crime\\n")
        ...     archive.writestr("ml-1m/users.dat", "1::F::25::3::12345\\n")
        ...     archive.writestr("ml-1m/ratings.dat", "1::7::4::978300760\\n")
        >>> ratings = paddle.text.Movielens("films.zip", test_ratio=0.0)
        >>> user, gender, age, job, film, categories, title, rating = ratings[0]
        >>> user.tolist(), film.tolist(), rating.tolist()
        ([1], [7], [3.0])
    Differs from Paddle: words of titles and categories are numbered in the order of their letters (there the
    numbers change from run to run), and NumPy's random generator is left alone.
    """

    def __init__(
        self,
        data_file: str | PathLike[str] | None = None,
        mode: str = "train",
        test_ratio: float = 0.1,
        rand_seed: int = 0,
        download: bool = True,
    ) -> None:
        self.mode: str = check_mode("Movielens", mode)
        self.data_file: str = located("sentiment", data_file, download, URL, MD5)
        self.test_ratio = test_ratio
        self.rand_seed = rand_seed
        catalogue = Catalogue(self.data_file)
        self.movie_info: dict[int, Any] = catalogue.movie_info
        self.user_info: dict[int, Any] = catalogue.user_info
        self.movie_title_dict: dict[str, int] = catalogue.movie_title_dict
        self.categories_dict: dict[str, int] = catalogue.categories_dict
        self.data: list[list[Any]] = [
            self._row(*rating)
            for rating in ratings_in(self.data_file, rand_seed, test_ratio, self.mode == "test")
        ]

    def _row(self, user: int, movie: int, rating: float) -> list[Any]:
        film = self.movie_info[movie].value(self.categories_dict, self.movie_title_dict)
        return [*self.user_info[user].value(), *film, [rating]]

    def __getitem__(self, idx: int) -> tuple[np.ndarray, ...]:
        return tuple(np.array(field) for field in self.data[idx])

    def __len__(self) -> int:
        return len(self.data)


def _rows(archive: zipfile.ZipFile, name: str) -> list[list[str]]:
    return [
        line.decode("latin1").strip().split("::") for line in archive.read(f"ml-1m/{name}.dat").splitlines()
    ]


def _numbered(words: Iterable[str]) -> dict[str, int]:
    return {word: number for number, word in enumerate(sorted(set(words)))}
