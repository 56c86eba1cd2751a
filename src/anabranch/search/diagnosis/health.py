"""Is everything as it should be here? Versions, machine, engine, cache, extras: what `anabranch doctor` prints."""

from __future__ import annotations

import os
import platform
import re
import secrets
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Literal, TypeAlias

from anabranch.files import replace_file

Status: TypeAlias = Literal["ok", "warn", "fail", "none"]
Version: TypeAlias = tuple[int, ...]

PYTHON = (3, 11)
PURPOSES = {
    "exact": "exact solutions where players choose at once",
    "interop": "OpenSpiel's games",
    "png": "PNG files",
    "train": "networks of torch and their .safetensors files",
    "fast": "networks in .onnx files",
}


@dataclass(frozen=True)
class Finding:
    """One thing looked at: good (ok), good enough (warn), not good (fail), or an extra nobody installed (none)."""

    what: str
    status: Status
    text: str


def examine(progress: Callable[[str], None] = lambda words: None) -> list[Finding]:
    """Look at everything; whatever goes wrong becomes a finding. `progress` is told what is looked at."""
    findings: list[Finding] = []
    for name, look in LOOKS.items():
        progress(f"looking at {name}")
        try:
            findings += look()
        except Exception as error:  # a doctor does not fall ill with the patient
            findings.append(Finding(name, "fail", f"{type(error).__name__}: {error}"))
    return findings


def versions() -> Iterator[Finding]:
    """Python, the package and what it needs."""
    found = ".".join(map(str, sys.version_info[:3]))
    words = f"{platform.python_implementation()} {found} in {sys.prefix}"
    if sys.version_info < PYTHON:
        yield Finding("python", "fail", f"{words}; 3.11 or newer is needed")
    else:
        yield Finding("python", "ok", words)
    yield Finding("anabranch", "ok", f"{metadata.version('anabranch')} in {Path(__file__).parents[2]}")
    for name, least, extra in requirements():
        if extra is None:
            yield package(name, least)


def package(name: str, least: str) -> Finding:
    """Return whether a needed package is there and new enough."""
    try:
        found = metadata.version(name)
    except metadata.PackageNotFoundError:
        return Finding(name, "fail", f"not installed; pip install '{name}>={least}'")
    if numbers(found) < numbers(least):
        return Finding(name, "fail", f"{found}, and {least} or newer is needed; pip install --upgrade {name}")
    return Finding(name, "ok", found)


def requirements() -> list[tuple[str, str, str | None]]:
    """Return what the package says it needs: name, least version, and the extra it belongs to if it does."""
    found = []
    for text in metadata.requires("anabranch") or []:
        match = re.match(r"([\w.-]+)\s*(?:>=\s*([\d.]+))?", text)
        extra = re.search(r"extra\s*==\s*['\"](\w+)['\"]", text)
        if match:
            found.append((match[1], match[2] or "0", extra[1] if extra else None))
    return found


def numbers(version: str) -> Version:
    """Return the numbers a version begins with: 1.2.3rc1 → 1, 2, 3."""
    return tuple(int(part) for part in re.findall(r"\d+", version.partition("+")[0])[:3])


def machine() -> Iterator[Finding]:
    """Processor, cores, memory."""
    yield Finding("system", "ok", f"{platform.system()} {platform.release()}, {platform.machine()}")
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    yield Finding("processor", "ok", f"{processor()}, {usable} of {os.cpu_count() or 1} cores for this process")
    memory = memory_bytes()
    if memory is None:
        yield Finding("memory", "warn", "its size cannot be found out here")
    else:
        few = memory < 2**30
        yield Finding("memory", "warn" if few else "ok", shown(memory) + ("; large searches need more" if few else ""))


def processor() -> str:
    """Return what the processor calls itself."""
    cpu = Path("/proc/cpuinfo")
    if cpu.is_file():
        match = re.search(r"^model name\s*:\s*(.+)$", cpu.read_text(encoding="utf-8", errors="replace"), re.MULTILINE)
        if match:
            return match[1].strip()
    return platform.processor() or platform.machine() or "unknown"


def memory_bytes() -> int | None:
    """Return the machine's memory, None where the system does not tell."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def cache_folder() -> Iterator[Finding]:
    """Where compiled games are kept, and whether that works."""
    from anabranch.game.native import cache

    where = cache.folder()
    files = list(where.glob("*.object")) if where.is_dir() else []
    size = sum(path.stat().st_size for path in files)
    words = f"{where}: {len(files)} compiled units, {shown(size)} of at most {shown(cache.LIMIT)}"
    probe, unit = "doctor-" + secrets.token_hex(8), cache.ObjectCode({"probe": "probe"}, (), b"probe")
    path = where / f"{probe}.object"
    try:
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        replace_file(path, cache.encode(unit))
        good = cache.read(probe) == unit
        path.unlink()
    except OSError as error:
        yield Finding(
            "cache",
            "warn",
            f"{words}; cannot be written ({error.strerror}), so every process compiles again: "
            "set ANABRANCH_CACHE to a folder that can",
        )
        return
    others = where.stat().st_mode & 0o022 if hasattr(os, "getuid") else 0
    if not good:
        yield Finding("cache", "fail", f"{words}; what is written there does not come back")
    elif others:
        yield Finding("cache", "warn", f"{words}; others can write there, and so run code as you: chmod 700 {where}")
    else:
        yield Finding("cache", "ok", words)


def compiler() -> Iterator[Finding]:
    """Whether rules compile, or load from the cache, and play as the same rules do interpreted."""
    from anabranch import games
    from anabranch.game.perft import perft

    began = time.perf_counter()
    compiled = perft(games.load("take_away").start(), 4)
    seconds = time.perf_counter() - began
    if compiled != perft(games.load("take_away", compiled=False).start(), 4):
        yield Finding("compiler", "fail", "compiled and interpreted rules of take_away differ: please report this")
    else:
        yield Finding("compiler", "ok", f"take_away was compiled or loaded, and played, in {seconds:.2f} s")


def engine() -> Iterator[Finding]:
    """Whether the engine does here what it did where it was released."""
    from anabranch import _native
    from anabranch.search.diagnosis.signature import CASES, QUICK, signature

    yield Finding("engine", "ok", str(_native.__file__))
    signed = signature([CASES[index] for index in QUICK])
    wrong = [game for (game, number), known in zip(signed.cases, QUICK.values(), strict=True) if number != known]
    if wrong:
        yield Finding(
            "signature",
            "fail",
            f"searches of {', '.join(wrong)} found something else than in this release: reinstall, then please report",
        )
    else:
        yield Finding("signature", "ok", f"{len(QUICK)} searches found what they found in this release")


def extras() -> Iterator[Finding]:
    """What may be installed on top."""
    for name, least, extra in requirements():
        if extra not in PURPOSES:
            continue
        found = package(name, least)
        if found.text.startswith("not installed"):
            found = Finding(name, "none", f"not installed; for {PURPOSES[extra]}: pip install 'anabranch[{extra}]'")
        yield found


def shown(size: int) -> str:
    """Return a number of bytes as people say it."""
    for unit, words in ((2**30, "GB"), (2**20, "MB"), (2**10, "kB")):
        if size >= unit:
            return f"{size / unit:.1f} {words}"
    return f"{size} bytes"


LOOKS: dict[str, Callable[[], Iterator[Finding]]] = {
    "versions": versions,
    "the machine": machine,
    "the cache": cache_folder,
    "the compiler": compiler,
    "the engine": engine,
    "extras": extras,
}
