"""Files: read within bounds, and never half written. All that the package writes, it writes here.

A file is written under a temporary name beside its own, made durable, and given its name: at every moment, crashes
included, there is the old file or the new one. Only ordinary files and new names are written. A device, a pipe, a
socket and a folder are refused, and so is a link, which is neither followed nor replaced: whoever may make links in a
shared folder would else choose the file that is written.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from anabranch.errors import DataError, FileError, MissingFileError, shortened, shown

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISLNK, "a link"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)
_SAFELY = sum(getattr(os, name, 0) for name in ("O_CLOEXEC", "O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))
_NO_SYNC = ("EINVAL", "ENOTSUP", "EOPNOTSUPP")  # of folders, where a file system has no such thing
_NO_LINKS = ("EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS", "EMLINK")
_CHUNK = 1 << 20
DATA = Path(__file__).parent / "data"  # what comes with the package: trained networks, solved positions
LONGEST_PATH = 1000  # letters of a name that a message repeats

# What to do about trouble, by the system's name for it.
_ADVICE = {
    "ENOSPC": "make room on the disk, or name another place",
    "EDQUOT": "make room within your quota, or name another place",
    "EFBIG": "files may not be as large here (ulimit -f); name another place",
    "EROFS": "nothing can be written there; name another place",
    "EACCES": "look at its permissions and its folder's, or name another place",
    "EPERM": "look at its permissions and its folder's, or name another place",
    "ENAMETOOLONG": "choose a shorter name",
    "EIO": "the disk has failed: look after it, or name another place",
}


def read_file(path: str | os.PathLike[str], most: int) -> bytes:
    """Return a file's bytes, if there are not too many of them; of links those of the file they lead to."""
    path = Path(path)
    with naming(path, "cannot be read"):
        try:
            kind = os.stat(path).st_mode
        except FileNotFoundError:
            raise MissingFileError(missing(path)) from None
        if not stat.S_ISREG(kind):
            raise FileError(f"{path} is {_kind(kind)}, and only ordinary files are read; name a file", path)
        file = os.open(path, os.O_RDONLY | _SAFELY & ~getattr(os, "O_NOFOLLOW", 0))
        try:
            return _read_all(file, path, most)
        finally:
            os.close(file)


def replace_file(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file so that at every moment, crashes included, it is the old one or the new one."""
    path, named = Path(path), False
    with naming(path, "was not written", lambda: named):
        mode = check_target(path)
        with _written(path, data, mode) as temporary:
            check_target(path)
            os.replace(temporary, path)
            named = True
        _sync_folder(path.parent)


def create_file(path: str | os.PathLike[str], data: bytes) -> bool:
    """Write a new file, whole or not at all; return whether: a name that is taken is left alone."""
    path, named = Path(path), False
    with naming(path, "was not written", lambda: named):
        if _exists(path):
            return False
        with _written(path, data, None) as temporary:
            if not _name_first(temporary, path):
                return False
            named = True
        _sync_folder(path.parent)
    return True


def make_folder(path: str | os.PathLike[str]) -> None:
    """Make a folder, durably, unless it is there; its own folder must be."""
    path = Path(path)
    with naming(path, "cannot be made"):
        if not path.is_dir():
            os.mkdir(path)
            _sync_folder(path.parent)


def remove_file(path: str | os.PathLike[str]) -> None:
    """Remove a file if it is there; should the system crash it may come back."""
    path = Path(path)
    with naming(path, "cannot be removed"), contextlib.suppress(FileNotFoundError):
        os.unlink(path)


class LockedFile:
    """A file whose lock one process holds, until it is closed or the process ends, however it ends."""

    def __init__(self, path: str | os.PathLike[str], taken: str) -> None:
        self.path = Path(path)
        with naming(self.path, "cannot be opened"):
            check_target(self.path)
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | _SAFELY, 0o666)
            try:
                lock(self._file, taken)
            except BaseException:
                os.close(self._file)
                raise

    def close(self) -> None:
        """Let others have it."""
        if self._file >= 0:
            file, self._file = self._file, -1
            with contextlib.suppress(OSError):  # it holds nothing, and is closed in any case
                os.close(file)


def lock(file: int, taken: str) -> None:
    """Lock a file or say that it is taken; where the system has no such locks, trust the user."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        raise DataError(taken) from None


def check_target(path: str | os.PathLike[str]) -> int | None:
    """Refuse what is not to be written to; return the permissions of the file that is there, None if there is none."""
    path = Path(path)
    with naming(path, "cannot be written"):
        try:
            kind = os.lstat(path).st_mode
        except FileNotFoundError:
            if not path.parent.is_dir():
                raise FileError(missing(path), path) from None
            return None
        _refuse_kind(path, kind)
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, "it may not be written to")
        return stat.S_IMODE(kind) & 0o777


def missing(path: Path) -> str:
    """Return what to say of a file that is not there, or whose folder is not."""
    told = shortened(str(path), LONGEST_PATH)
    if os.path.isdir(path.parent):
        return f"there is no file {told}; look at how it is spelt, and at the folder you are in"
    folder = shortened(str(path.parent), LONGEST_PATH)
    return f"there is no folder {folder} for {shortened(path.name)}; make it first, or name another one"


class GrowingFile:
    """A file that grows, this process alone: when `append` returns it is on disk, and if it raises it is not there.

    Should even taking it back fail, an unfinished piece stays behind the good `length`, and goes before the next one.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.length = 0
        self._torn = False
        with naming(self.path, "cannot be opened"):
            check_target(self.path)
            self._file = os.open(self.path, os.O_RDWR | _SAFELY)
            try:
                _refuse_kind(self.path, os.fstat(self._file).st_mode)
                lock(self._file, f"{self.path}: another process is writing to this file now")
            except BaseException:
                os.close(self._file)
                raise

    def read(self, most: int) -> bytes:
        """Return all that is there."""
        with naming(self.path, "cannot be read"):
            data = _read_all(self._file, self.path, most)
        self.length = len(data)
        return data

    def cut(self, length: int) -> None:
        """Forget what follows the first so many bytes."""
        if length < self.length:
            with naming(self.path, "cannot be written"):
                os.ftruncate(self._file, length)
            self.length = length

    def append(self, data: bytes) -> None:
        """Add to the end."""
        with naming(self.path, "was not written to"):
            if self._torn:
                os.ftruncate(self._file, self.length)
                self._torn = False
            try:
                os.lseek(self._file, self.length, os.SEEK_SET)
                _write_all(self._file, data)
                os.fsync(self._file)
                self.length += len(data)
            except BaseException:
                self._torn = True
                with contextlib.suppress(OSError):
                    os.ftruncate(self._file, self.length)
                    self._torn = False
                raise

    def close(self) -> None:
        """Let go of the file."""
        if self._file >= 0:
            file, self._file = self._file, -1
            with naming(self.path, "cannot be closed"):
                os.close(file)


@contextlib.contextmanager
def _written(path: Path, data: bytes, mode: int | None) -> Iterator[Path]:
    """Write a temporary file beside a path, durably; what is left of it afterwards goes."""
    temporary = path.with_name(f".anabranch-{os.urandom(8).hex()}.tmp")
    file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFELY, 0o666 if mode is None else mode & 0o700)
    try:
        try:
            if mode is not None and stat.S_IMODE(os.fstat(file).st_mode) != mode and hasattr(os, "fchmod"):
                os.fchmod(file, mode)
            _write_all(file, data)
            os.fsync(file)
        finally:
            os.close(file)
        yield temporary
    finally:
        with contextlib.suppress(OSError):
            os.unlink(temporary)


def _name_first(temporary: Path, path: Path) -> bool:
    """Give a file a second name unless it is taken; return whether."""
    try:
        os.link(temporary, path)
    except FileExistsError:
        return False
    except OSError as error:
        if _word(error) not in _NO_LINKS:
            raise
    else:
        return True
    try:  # where files have one name only, take it first
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFELY, 0o666))
    except FileExistsError:
        return False
    try:
        os.replace(temporary, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(path)
        raise
    return True


def _write_all(file: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        count = os.write(file, rest)
        if count <= 0:
            raise OSError(errno.EIO, "nothing more can be written")
        rest = rest[count:]


def _read_all(file: int, path: Path, most: int) -> bytes:
    """Return what is left of a file: no more than allowed is read, whatever its size is said to be."""
    size = os.fstat(file).st_size
    if size <= most:
        parts, total = [], 0
        while total <= most and (part := os.read(file, min(_CHUNK, most + 1 - total))):
            parts.append(part)
            total += len(part)
        if total <= most:
            return b"".join(parts)
        size = total
    raise DataError(f"{path} has {size:,} bytes; at most {most:,} are read")


def _sync_folder(folder: Path) -> None:
    """Make a new name durable, where folders can be opened."""
    if not hasattr(os, "O_DIRECTORY"):
        return
    try:
        file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | getattr(os, "O_CLOEXEC", 0))
    except PermissionError:  # a folder that may be written to and not be read
        return
    try:
        os.fsync(file)
    except OSError as error:
        if _word(error) not in _NO_SYNC:
            raise
    finally:
        os.close(file)


def _exists(path: Path) -> bool:
    try:
        os.lstat(path)
    except FileNotFoundError:
        return False
    return True


def _refuse_kind(path: Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        advice = "name the file it leads to" if stat.S_ISLNK(mode) else "name a file"
        advice = "name a file in it" if stat.S_ISDIR(mode) else advice
        raise FileError(f"{path} is {_kind(mode)}, and only ordinary files are written; {advice}", path)


def _kind(mode: int) -> str:
    return next((words for test, words in _KINDS if test(mode)), "no ordinary file")


def _word(error: OSError) -> str:
    """Return the system's name of what went wrong."""
    return errno.errorcode.get(error.errno or 0, "")


@contextlib.contextmanager
def naming(path: Path, what: str, named: Callable[[], bool] | None = None) -> Iterator[None]:
    """Turn what the system says of a file into an error that names it, says how it is left, and what to do.

    `named` says whether the new file has its name already.
    """
    try:
        possible = b"\0" not in os.fsencode(path)
    except UnicodeEncodeError:
        possible = False
    if not possible:
        raise FileError(f"{shown(str(path))} {what}: no file can have such a name", path)
    try:
        yield
    except (DataError, MissingFileError):
        raise
    except OSError as error:
        told = [f"{shortened(str(path), LONGEST_PATH)} {what}: {error.strerror or error}"]
        if named is not None:
            new = named()
            told.append("the new file is there, but may not survive a crash" if new else "what was there is as it was")
        if isinstance(error, (FileNotFoundError, NotADirectoryError)) and not path.parent.is_dir():
            told.append(f"there is no folder {path.parent}: make it first, or name another one")
        elif advice := _ADVICE.get(_word(error)):
            told.append(advice)
        raise FileError("; ".join(told), path, error) from error
