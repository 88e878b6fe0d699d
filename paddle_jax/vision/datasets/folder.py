"""Images in folders."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from paddle_jax._core.base.state import ImageSettings
from paddle_jax.framework.addresses import local_copy
from paddle_jax.io import Dataset
from paddle_jax.vision.image import opencv, pillow

__all__ = []

IMG_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


def has_valid_extension(filename: str, extensions: Sequence[str]) -> bool:
    """Whether a name ends with one of the extensions, in small or large letters.

    Raises:
        AssertionError: extensions is not a list.
    """
    if not isinstance(extensions, list | tuple):
        raise AssertionError(f"has_valid_extension: extensions: got {extensions!r}; it must be a list")
    return filename.lower().endswith(tuple(extension.lower() for extension in extensions))


def _files(folder: str, is_valid_file: Callable[..., Any]) -> Iterator[Any]:
    """Paths of the valid files in a folder and all folders below it, sorted within each."""
    for place, _, names in sorted(os.walk(folder, followlinks=True)):
        # a path given as str stays as it is
        paths = [os.path.join(place, name) for name in sorted(names)]  # noqa: PTH118
        yield from (path for path in paths if is_valid_file(path))


def make_dataset(
    dir: str, class_to_idx: dict[str, Any], extensions: Any, is_valid_file: Callable[..., Any] | None = None
) -> list[tuple[Any, Any]]:
    """[(path, number of the class)] of the files below the folders of the classes.

    Args:
        dir: str, the folder that holds one folder for each class.
        class_to_idx: dict from name to number; classes without a folder are left out.
        extensions: list of endings of names, or None.
        is_valid_file: called with a path where extensions is None.
    """
    valid = is_valid_file if extensions is None else lambda path: has_valid_extension(path, extensions)
    folders = [
        (os.path.join(str(Path(dir).expanduser()), name), class_to_idx[name])  # noqa: PTH118
        for name in sorted(class_to_idx)
    ]
    return [(path, number) for folder, number in folders for path in _files(folder, valid)]


def pil_loader(path: str) -> Any:
    """An Image of pillow with three channels."""
    with Path(path).open("rb") as stream:
        return pillow().open(stream).convert("RGB")


def cv2_loader(path: Any) -> Any:
    """A uint8 array [H, W, 3] in the order red, green, blue."""
    cv2 = opencv()
    return cv2.cvtColor(cv2.imread(path), cv2.COLOR_BGR2RGB)


def default_loader(path: str) -> Any:
    """An image read as `paddle.vision.set_image_backend` says."""
    if ImageSettings.backend == "cv2":
        return cv2_loader(path)
    return pil_loader(path)


def _filter(
    extensions: Sequence[str] | str | None, is_valid_file: Callable[..., Any] | None
) -> tuple[tuple[str, str, str, str, str, str, str, str, str], None] | tuple[Any | None, Any]:
    """(extensions, is_valid_file) with the defaults put in."""
    if extensions is None and is_valid_file is None:
        return IMG_EXTENSIONS, None
    return extensions, is_valid_file


def _nothing(name: str, what: str, root: str, extensions: Sequence[str]) -> RuntimeError:
    if extensions:
        ends = f" that end with {', '.join(extensions)}"
    else:
        ends = ""
    return RuntimeError(f"{name}: root: found no {what}{ends} below {root}")


class DatasetFolder(Dataset):
    """Files in folders whose names are classes: root/class/file.

    Args:
        root: str, the folder.
        loader: called with a path, gives the sample. Default: an image, as
            `paddle.vision.set_image_backend` says.
        extensions: list of endings of names. Default: those of images, unless is_valid_file is given.
        transform: called with a sample, gives what stands in its place. Default None.
        is_valid_file: called with a path; counts where extensions is None.
    Returns:
        An item is (sample, number of the class). Attributes: classes, class_to_idx, samples (pairs of path
        and number), targets.
    Raises:
        FileNotFoundError: there is no such folder.
        RuntimeError: there is no file.
    Example:
        >>> import pathlib
        >>> for kind in ("cat", "dog"):
        ...     pathlib.Path("pets", kind).mkdir(parents=True)
        ...     _ = pathlib.Path("pets", kind, "a.txt").write_text(kind)
        >>> pets = paddle.vision.datasets.DatasetFolder("pets", lambda path: pathlib.Path(path).read_text(),
        ...                                             [".txt"])
        >>> pets.classes, pets[1]
        (['cat', 'dog'], ('dog', 1))
    """

    def __init__(
        self,
        root: str,
        loader: Callable[..., Any] | None = None,
        extensions: Any = None,
        transform: Callable[..., Any] | None = None,
        is_valid_file: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__()
        self.root = root
        self.transform = transform
        extensions, is_valid_file = _filter(extensions, is_valid_file)
        root = local_copy("DatasetFolder", root)
        classes, class_to_idx = self._find_classes(root)
        samples = make_dataset(root, class_to_idx, extensions, is_valid_file)
        if not samples:
            raise _nothing("DatasetFolder", "folder with files", root, extensions)
        self.loader: Callable[..., Any] = default_loader if loader is None else loader
        self.extensions = extensions
        self.classes = classes
        self.class_to_idx = class_to_idx
        self.samples = samples
        self.targets: list[Any] = [number for _, number in samples]
        self.dtype = "float32"

    def _find_classes(self, dir: str) -> tuple[list[str], dict[str, int]]:
        classes = sorted(entry.name for entry in Path(dir).iterdir() if entry.is_dir())
        return classes, {name: number for number, name in enumerate(classes)}

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        path, number = self.samples[index]
        sample = self.loader(path)
        return sample if self.transform is None else self.transform(sample), number

    def __len__(self) -> int:
        return len(self.samples)


class ImageFolder(Dataset):
    """All images in a folder and the folders below it, without labels.

    Args:
        root: str, the folder.
        loader, extensions, transform, is_valid_file: as for `DatasetFolder`.
    Returns:
        An item is [sample]. Attribute: samples, the paths.
    Raises:
        RuntimeError: there is no file.
    Example:
        >>> import pathlib
        >>> pathlib.Path("texts").mkdir()
        >>> _ = pathlib.Path("texts", "a.txt").write_text("hello")
        >>> paddle.vision.datasets.ImageFolder("texts", lambda path: pathlib.Path(path).read_text(),
        ...                                    [".txt"])[0]
        ['hello']
    """

    def __init__(
        self,
        root: str,
        loader: Callable[..., Any] | None = None,
        extensions: Sequence[str] | None = None,
        transform: Callable[..., Any] | None = None,
        is_valid_file: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__()
        self.root = root
        extensions, is_valid_file = _filter(extensions, is_valid_file)
        valid = is_valid_file if extensions is None else lambda path: has_valid_extension(path, extensions)
        root = local_copy("ImageFolder", root)
        samples = list(_files(str(Path(root).expanduser()), valid))
        if not samples:
            raise _nothing("ImageFolder", "file", root, extensions)
        self.loader: Callable[..., Any] = default_loader if loader is None else loader
        self.extensions = extensions
        self.samples = samples
        self.transform = transform

    def __getitem__(self, index: int) -> list[Any]:
        sample = self.loader(self.samples[index])
        return [sample if self.transform is None else self.transform(sample)]

    def __len__(self) -> int:
        return len(self.samples)
