# SPDX-License-Identifier: MIT
"""The files that a machine returns: at most eight, flat, of at most 16 MiB each."""

import gzip
import os
import shutil
import tarfile
from collections.abc import Sequence
from pathlib import Path

from reports.results.files import write_files
from tools.prove.steps import SUITE

MOST_BYTES = 16 << 20
# Kept of a log's beginning, and of its end.
_LOG_BYTES = 1 << 20

# Copied unchanged.
_COPIED = {
    "proof.json": "proof.json",
    "smoke.json": "05-smoke/smoke.json",
    f"{SUITE}.json": f"08-suite/{SUITE}.json",
    "ncu.txt": "12-ncu/log.txt",
    "dmon.txt": "dmon.txt",
}
_ZIPPED = {f"{SUITE}.samples.jsonl.gz": f"08-suite/{SUITE}.samples.jsonl"}
_PROFILE = "07-breakdown"
_PACKAGES = "aoti"  # of export_aoti, which only this machine can use
_MADE = "kept"  # where the files are made
FILES = (*_COPIED, *_ZIPPED, "profile.tar.gz", "logs.tar.gz")


def _shortened(path: Path) -> None:
    """Cuts a long log, so that it does not displace the other logs."""
    size = path.stat().st_size
    if size <= 2 * _LOG_BYTES:
        return
    with path.open("rb") as file:
        head = file.read(_LOG_BYTES)
        file.seek(size - _LOG_BYTES)
        tail = file.read()
    left_out = f"\n... {size - 2 * _LOG_BYTES} bytes ...\n".encode()
    path.write_bytes(head + left_out + tail)


def _pack(sources: Sequence[Path], state: Path, to: Path) -> None:
    """Packs all sources, or only the smaller ones that fit."""
    kept = sorted(sources, key=lambda path: path.stat().st_size)
    while True:
        with tarfile.open(to, "w:gz", compresslevel=6) as archive:
            for path in kept:
                archive.add(path, path.relative_to(state))
        if to.stat().st_size <= MOST_BYTES or not kept:
            return
        kept.pop()


def _files_of(folder: Path) -> list[Path]:
    """The files that are not about to be renamed."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path for path in found if path.suffix != ".tmp")


def _make(name: str, target: Path, sources: Sequence[Path], state: Path) -> None:
    if name in _COPIED:
        shutil.copyfile(sources[0], target)
    elif name in _ZIPPED:
        with sources[0].open("rb") as file, gzip.open(target, "wb") as zipped:
            shutil.copyfileobj(file, zipped)
    else:
        _pack(sources, state, target)


def _is_of(path: Path, changed: int) -> bool:
    return path.exists() and path.stat().st_mtime_ns == changed


def _put(name: str, sources: Sequence[Path], state: Path, into: Path) -> None:
    """Makes the file from its sources if they changed, and replaces it atomically. It
    gets the time of their last change: a step that runs may change them meanwhile."""
    if not sources:
        return
    changed = max(path.stat().st_mtime_ns for path in sources)
    made = state / _MADE / name
    if not _is_of(made, changed):
        part = made.with_suffix(".tmp")
        _make(name, part, sources, state)
        os.utime(part, ns=(changed, changed))
        part.replace(made)
    if made.stat().st_size <= MOST_BYTES and not _is_of(into / name, changed):
        write_files({into / name: made.read_bytes()})
        os.utime(into / name, ns=(changed, changed))


def keep(state: Path, into: Path) -> None:
    """Brings the files in `into` up to date. Errors: OSError."""
    into.mkdir(parents=True, exist_ok=True)
    (state / _MADE).mkdir(exist_ok=True)
    for log in state.glob("*/log.txt"):
        _shortened(log)
    alone = {name: state / path for name, path in (_COPIED | _ZIPPED).items()}
    for name, path in alone.items():
        _put(name, [path] if path.is_file() else [], state, into)
    profile = _files_of(state / _PROFILE)
    _put("profile.tar.gz", profile, state, into)
    not_in_logs = {*alone.values(), *profile}
    for folder in (_MADE, _PACKAGES):
        not_in_logs |= set(_files_of(state / folder))
    rest = [path for path in _files_of(state) if path not in not_in_logs]
    _put("logs.tar.gz", rest, state, into)
