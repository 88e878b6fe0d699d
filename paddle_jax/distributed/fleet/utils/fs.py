"""File systems of programs that train in several processes: the local one and Hadoop's."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path, PurePosixPath
from typing import Any

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
        # Once, so that both lists come from one state of the folder.
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
        # The file that is replaced goes first: a folder could not be replaced.
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


_ABORTED = 134  # the exit status of a command that was aborted


class HDFSClient(FS):
    """The file system of a Hadoop installation, by its program `hadoop fs`.

    A command that fails is repeated until the time is over.

    Args:
        hadoop_home: str, the folder that has bin/hadoop.
        configs: dict, settings that each command gets as `-Dname=value`: "fs.default.name",
            "hadoop.job.ugi"; or None.
        time_out: int, milliseconds until a failing call raises.
        sleep_inter: int, milliseconds between two tries.
    Raises:
        FSTimeOut: (when called) a command has failed until the time was over.
        FSShellCmdAborted: (when called) a command was aborted.
        FileNotFoundError: (when called) hadoop_home has no bin/hadoop.
    Example:
        >>> HDFSClient = paddle.distributed.fleet.utils.HDFSClient
        >>> client = HDFSClient("/opt/hadoop", {"fs.default.name": "hdfs://name:54310"})
        >>> client.need_upload_download()
        True
    """

    def __init__(
        self,
        hadoop_home: str,
        configs: dict[str, Any] | None,
        time_out: int = 5 * 60 * 1000,
        sleep_inter: int = 1000,
    ) -> None:
        settings = [f"-D{name}={value}" for name, value in (configs or {}).items()]
        # Hadoop takes settings before the command.
        self.pre_commands: list[str] = [f"{hadoop_home}/bin/hadoop", "fs", *settings]
        self._time_out = time_out
        self._sleep_inter = sleep_inter

    def _try(self, words: Sequence[str], accepted: Sequence[int] = (0,)) -> tuple[int, str]:
        """The exit status and output of a command, repeated until the status is an accepted one."""
        limit = time.monotonic() + self._time_out / 1000
        while True:
            # One command may take all the time that is left.
            remaining = max(limit - time.monotonic(), 0.1)
            try:
                ended = subprocess.run(
                    [*self.pre_commands, *words],
                    capture_output=True,
                    text=True,
                    timeout=remaining,
                    check=False,
                )
            except subprocess.TimeoutExpired:
                raise FSTimeOut(
                    f"HDFSClient: {' '.join(words)}: no end after {self._time_out} ms; raise time_out"
                ) from None
            if ended.returncode in accepted:
                return ended.returncode, ended.stdout
            if ended.returncode == _ABORTED:
                # Hadoop has crashed, which another try would not change.
                raise FSShellCmdAborted(f"HDFSClient: {' '.join(words)}: aborted: {ended.stderr.strip()}")
            # After the pause there would be no time for another try.
            if time.monotonic() + self._sleep_inter / 1000 >= limit:
                raise FSTimeOut(
                    f"HDFSClient: {' '.join(words)}: exit status {ended.returncode} for {self._time_out} ms: "
                    f"{ended.stderr.strip()}"
                )
            time.sleep(self._sleep_inter / 1000)

    def _run(self, *words: str) -> str:
        return self._try(words)[1]

    def _test(self, option: str, fs_path: str) -> bool:
        # 1 is the answer no.
        return self._try(["-test", option, fs_path], accepted=(0, 1))[0] == 0

    def is_exist(self, fs_path: str) -> bool:
        """Whether there is such a file or folder.

        Args:
            fs_path: str.
        """
        return self._test("-e", fs_path)

    def is_dir(self, fs_path: str) -> bool:
        """Whether there is such a folder.

        Args:
            fs_path: str.
        """
        return self._test("-d", fs_path)

    def is_file(self, fs_path: str) -> bool:
        """Whether there is such a file.

        Args:
            fs_path: str.
        """
        # What exists is a file or a folder.
        return self.is_exist(fs_path) and not self.is_dir(fs_path)

    def _entries(self, *paths: str) -> list[list[str]]:
        """The eight columns of each entry: rights, copies, owner, group, size, day, time, path."""
        # Names may have spaces: only the first seven gaps separate columns.
        rows = [line.split(maxsplit=7) for line in self._run("-ls", *paths).splitlines()]
        # The first line counts the entries.
        return [row for row in rows if len(row) == 8]

    def ls_dir(self, fs_path: str) -> tuple[list[str], list[str]]:
        """(names of folders, names of files) in a folder; two empty lists if it does not exist.

        Args:
            fs_path: str.
        """
        if not self.is_exist(fs_path):
            return [], []
        folders = []
        files = []
        for row in self._entries(fs_path):
            is_folder = row[0].startswith("d")
            chosen = folders if is_folder else files
            chosen.append(PurePosixPath(row[7]).name)
        return folders, files

    def list_dirs(self, fs_path: str) -> list[str]:
        """The names of the folders in a folder; an empty list if it does not exist.

        Args:
            fs_path: str.
        """
        return self.ls_dir(fs_path)[0]

    def list_files_info(self, path_list: Sequence[str]) -> list[dict[str, Any]]:
        """Paths and sizes of files and of what is in folders.

        Args:
            path_list: list of str.
        Returns:
            list of dicts with "path" and "size".
        """
        if not path_list:
            return []
        return [{"path": row[7], "size": int(row[4])} for row in self._entries(*path_list)]

    def mkdirs(self, fs_path: str) -> None:
        """Makes a folder, and those that it lies in; nothing if it exists.

        Args:
            fs_path: str.
        """
        if not self.is_exist(fs_path):
            self._run("-mkdir", "-p", fs_path)

    def delete(self, fs_path: str) -> None:
        """Removes a file or a folder with its content; nothing if it does not exist.

        Args:
            fs_path: str.
        """
        if self.is_exist(fs_path):
            self._run("-rm", "-r", fs_path)

    def touch(self, fs_path: str, exist_ok: bool = True) -> None:
        """Makes an empty file.

        Args:
            fs_path: str.
            exist_ok: bool, whether it may exist already; it stays as it is. Default True.
        Raises:
            FSFileExistsError: it exists, and exist_ok is False.
        """
        if not self.is_exist(fs_path):
            self._run("-touchz", fs_path)
        elif not exist_ok:
            raise FSFileExistsError(f"HDFSClient.touch: {fs_path} exists; delete it, or set exist_ok")

    def mv(
        self, fs_src_path: str, fs_dst_path: str, overwrite: bool = False, test_exists: bool = True
    ) -> None:
        """Moves a file or folder.

        Args:
            fs_src_path, fs_dst_path: str.
            overwrite: bool, whether what is at fs_dst_path is removed first. Default False.
            test_exists: bool, whether both paths are looked at first. Default True.
        Raises:
            FSFileNotExistsError: fs_src_path does not exist.
            FSFileExistsError: fs_dst_path exists, and overwrite is False.
        """
        if test_exists and not self.is_exist(fs_src_path):
            raise FSFileNotExistsError(f"HDFSClient.mv: fs_src_path: {fs_src_path} does not exist")
        if overwrite:
            # Hadoop would move into a folder of that name.
            self.delete(fs_dst_path)
        elif test_exists and self.is_exist(fs_dst_path):
            raise FSFileExistsError(
                f"HDFSClient.mv: fs_dst_path: {fs_dst_path} exists; set overwrite to replace it"
            )
        self._run("-mv", fs_src_path, fs_dst_path)

    def upload(
        self, local_path: str, fs_path: str, multi_processes: int = 5, overwrite: bool = False
    ) -> None:
        """Copies a local file, or what is in a local folder, into the file system.

        Args:
            local_path, fs_path: str.
            multi_processes: int, how many copies run at once. Default 5.
            overwrite: bool, whether a folder at fs_path is emptied first. Default False.
        Raises:
            FSFileNotExistsError: local_path does not exist.
        """
        local = Path(local_path)
        if not local.exists():
            raise FSFileNotExistsError(f"HDFSClient.upload: local_path: {local_path} does not exist")
        if overwrite and self.is_exist(fs_path):
            self.delete(fs_path)
            # It must be a folder again, since files are put into it.
            self.mkdirs(fs_path)
        # What is in the folder, not the folder itself; see `upload_dir`.
        chosen = sorted(map(str, local.iterdir())) if local.is_dir() else [str(local)]
        self._run_all([("-put", name, fs_path) for name in chosen], multi_processes)

    def download(
        self, fs_path: str, local_path: str, multi_processes: int = 5, overwrite: bool = False
    ) -> None:
        """Copies a file, or what is in a folder, to the local file system.

        Args:
            fs_path, local_path: str.
            multi_processes: int, how many copies run at once. Default 5.
            overwrite: accepted.
        Raises:
            FSFileNotExistsError: fs_path does not exist.
        """
        if not self.is_exist(fs_path):
            raise FSFileNotExistsError(f"HDFSClient.download: fs_path: {fs_path} does not exist")
        chosen = [fs_path]
        if self.is_dir(fs_path):
            folders, files = self.ls_dir(fs_path)
            chosen = [f"{fs_path}/{name}" for name in [*files, *folders]]
        self._run_all([("-get", name, local_path) for name in chosen], multi_processes)

    def _run_all(self, commands: Sequence[tuple[str, ...]], count: int) -> None:
        """Runs commands, some at once; the first failure is raised."""
        with ThreadPoolExecutor(max(count, 1)) as pool:
            # A list, so that failures are raised.
            list(pool.map(lambda words: self._run(*words), commands))

    def upload_dir(self, local_dir: str, dest_dir: str, overwrite: bool = False) -> None:
        """Copies a local folder into a folder of the file system.

        Args:
            local_dir, dest_dir: str.
            overwrite: bool, whether a folder of this name is removed first. Default False.
        """
        copied = f"{dest_dir.rstrip('/')}/{Path(local_dir).name}"
        if overwrite:
            self.delete(copied)
        self.mkdirs(dest_dir.rstrip("/"))
        self._run("-put", local_dir.rstrip("/"), dest_dir.rstrip("/"))

    def cat(self, fs_path: str | None = None) -> str:
        """The content of a file without the end of its last line; an empty text if there is no such file.

        Args:
            fs_path: str.
        """
        if fs_path is None or not self.is_file(fs_path):
            return ""
        return "\n".join(self._run("-cat", fs_path).splitlines())

    def need_upload_download(self) -> bool:
        """True: programs cannot open the files."""
        return True
