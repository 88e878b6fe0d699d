"""File systems of programs that train in several processes: the local one."""

from __future__ import annotations

import shutil
from pathlib import Path

from paddle_jax._core.base.errors import CheckError

__all__ = []


class ExecuteError(Exception):
    """A command of a file system has failed."""


class FSFileExistsError(Exception):
    """A file is there that would be overwritten."""


class FSFileNotExistsError(Exception):
    """A file is not there."""


class FSTimeOut(Exception):
    """A file system does not answer in time."""


class FSShellCmdAborted(ExecuteError):
    """A command of a file system was ended."""


class FS:
    """What file systems can do; `LocalFS` is one. The methods that a file system lacks raise
    NotImplementedError."""

    def ls_dir(self, fs_path: str) -> tuple[list[str], list[str]]:
        """(names of folders, names of files) in a folder."""
        raise NotImplementedError

    def is_file(self, fs_path: str) -> bool:
        """Whether there is such a file."""
        raise NotImplementedError

    def is_dir(self, fs_path: str) -> bool:
        """Whether there is such a folder."""
        raise NotImplementedError

    def is_exist(self, fs_path: str) -> bool:
        """Whether there is such a file or folder."""
        raise NotImplementedError

    def upload(self, local_path: str, fs_path: str) -> None:
        """Copies a local file or folder into the file system."""
        raise NotImplementedError

    def download(self, fs_path: str, local_path: str) -> None:
        """Copies a file or folder of the file system to the local one."""
        raise NotImplementedError

    def mkdirs(self, fs_path: str) -> None:
        """Makes a folder, and those that it lies in."""
        raise NotImplementedError

    def delete(self, fs_path: str) -> None:
        """Removes a file or a folder with its content."""
        raise NotImplementedError

    def need_upload_download(self) -> bool:
        """Whether files must be copied before programs can open them."""
        raise NotImplementedError

    def rename(self, fs_src_path: str, fs_dst_path: str) -> None:
        """Gives a file or folder another name."""
        raise NotImplementedError

    def mv(
        self, fs_src_path: str, fs_dst_path: str, overwrite: bool = False, test_exists: bool = False
    ) -> None:
        """Moves a file or folder."""
        raise NotImplementedError

    def upload_dir(self, local_dir: str, dest_dir: str) -> None:
        """Copies a local folder into the file system."""
        raise NotImplementedError

    def list_dirs(self, fs_path: str) -> list[str]:
        """The names of the folders in a folder."""
        raise NotImplementedError

    def touch(self, fs_path: str, exist_ok: bool = True) -> None:
        """Makes an empty file."""
        raise NotImplementedError

    def cat(self, fs_path: str | None = None) -> str:
        """The content of a file."""
        raise NotImplementedError


class LocalFS(FS):
    """The file system of this machine.

    Raises:
        FSFileExistsError, FSFileNotExistsError: a path exists already, or does not. AssertionError: a
            folder's name is that of a file.
    Example:
        >>> import os, tempfile
        >>> LocalFS = paddle.distributed.fleet.utils.LocalFS
        >>> client, folder = LocalFS(), tempfile.mkdtemp()
        >>> client.mkdirs(os.path.join(folder, "a", "b"))
        >>> client.touch(os.path.join(folder, "a", "log"))
        >>> client.ls_dir(os.path.join(folder, "a"))
        (['b'], ['log'])
    """

    def ls_dir(self, fs_path: str) -> tuple[list[str], list[str]]:
        """(names of folders, names of files) in a folder; two empty lists if it does not exist.

        Args:
            fs_path: str.
        Raises:
            NotADirectoryError: it is a file.
        """
        if not self.is_exist(fs_path):
            return [], []
        entries = list(Path(fs_path).iterdir())
        folders = [entry.name for entry in entries if entry.is_dir()]
        files = [entry.name for entry in entries if not entry.is_dir()]
        return folders, files

    def mkdirs(self, fs_path: str) -> None:
        """Makes a folder, and those that it lies in; nothing if it exists.

        Args:
            fs_path: str.
        Raises:
            AssertionError: it is a file.
        """
        if self.is_file(fs_path):
            raise CheckError(f"LocalFS.mkdirs: fs_path: {fs_path} is a file; name a folder")
        Path(fs_path).mkdir(parents=True, exist_ok=True)

    def rename(self, fs_src_path: str, fs_dst_path: str) -> None:
        """Gives a file or folder another name, and replaces a file of that name.

        Args:
            fs_src_path, fs_dst_path: str.
        Raises:
            FileNotFoundError: the first does not exist.
        """
        Path(fs_src_path).replace(fs_dst_path)

    def delete(self, fs_path: str) -> None:
        """Removes a file or a folder with its content; nothing if it does not exist.

        Args:
            fs_path: str.
        """
        if self.is_dir(fs_path):
            shutil.rmtree(fs_path)
        elif self.is_exist(fs_path):
            Path(fs_path).unlink()

    def need_upload_download(self) -> bool:
        """False: programs can open the files."""
        return False

    def is_file(self, fs_path: str) -> bool:
        """Whether there is such a file.

        Args:
            fs_path: str.
        """
        return Path(fs_path).is_file()

    def is_dir(self, fs_path: str) -> bool:
        """Whether there is such a folder.

        Args:
            fs_path: str.
        """
        return Path(fs_path).is_dir()

    def is_exist(self, fs_path: str) -> bool:
        """Whether there is such a file or folder.

        Args:
            fs_path: str.
        """
        return Path(fs_path).exists()

    def touch(self, fs_path: str, exist_ok: bool = True) -> None:
        """Makes an empty file.

        Args:
            fs_path: str.
            exist_ok: bool, whether it may exist already; it stays as it is. Default True.
        Raises:
            FSFileExistsError: it exists, and exist_ok is False.
        """
        if self.is_exist(fs_path):
            if exist_ok:
                return
            raise FSFileExistsError(f"LocalFS.touch: {fs_path} exists; delete it, or set exist_ok")
        Path(fs_path).touch()

    def mv(self, src_path: str, dst_path: str, overwrite: bool = False, test_exists: bool = False) -> None:
        """Moves a file or folder.

        Args:
            src_path, dst_path: str.
            overwrite: bool, whether what is at dst_path is removed first. Default False.
            test_exists: accepted; both paths are always looked at.
        Raises:
            FSFileNotExistsError: src_path does not exist.
            FSFileExistsError: dst_path exists, and overwrite is False.
        """
        if not self.is_exist(src_path):
            raise FSFileNotExistsError(f"LocalFS.mv: src_path: {src_path} does not exist")
        if overwrite and self.is_exist(dst_path):
            self.delete(dst_path)
        if self.is_exist(dst_path):
            raise FSFileExistsError(f"LocalFS.mv: dst_path: {dst_path} exists; set overwrite to replace it")
        self.rename(src_path, dst_path)

    def list_dirs(self, fs_path: str) -> list[str]:
        """The names of the folders in a folder; an empty list if it does not exist.

        Args:
            fs_path: str.
        """
        return self.ls_dir(fs_path)[0]
