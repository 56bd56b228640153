# SPDX-License-Identifier: MIT
"""The files that a machine returns: at most eight, flat, of at most 16 MiB each."""

import gzip
import io
import os
import tarfile
from collections.abc import Sequence
from pathlib import Path

from reports.results.files import write_files
from tools.prove.steps import SUITE

MOST_BYTES = 16 << 20
# Kept of a log's beginning, and of its end.
_LOG_BYTES = 1 << 20

# What comes back alone; .gz: compressed.
_ALONE = {
    "proof.json": "proof.json",
    "smoke.json": "05-smoke/smoke.json",
    f"{SUITE}.json": f"08-suite/{SUITE}.json",
    f"{SUITE}.samples.jsonl.gz": f"08-suite/{SUITE}.samples.jsonl",
    "ncu.txt": "12-ncu/log.txt",
    "dmon.txt": "dmon.txt",
}
_PROFILE = "07-breakdown"
_PACKAGES = "aoti"  # of export_aoti, which only this machine can use
FILES = (*_ALONE, "profile.tar.gz", "logs.tar.gz")


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


def _packed(sources: Sequence[Path], state: Path) -> bytes:
    """Packs all sources, or only the smaller ones that fit."""
    kept = sorted(sources, key=lambda path: path.stat().st_size)
    while True:
        made = io.BytesIO()
        with tarfile.open(fileobj=made, mode="w:gz", compresslevel=6) as archive:
            for path in kept:
                archive.add(path, path.relative_to(state))
        if made.tell() <= MOST_BYTES or not kept:
            return made.getvalue()
        kept.pop()


def _files_of(folder: Path) -> list[Path]:
    """The files that are not about to be renamed."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path for path in found if path.suffix != ".tmp")


def _made(name: str, sources: Sequence[Path], state: Path) -> bytes:
    if name.endswith(".tar.gz"):
        return _packed(sources, state)
    content = sources[0].read_bytes()
    return gzip.compress(content) if name.endswith(".gz") else content


def _put(name: str, sources: Sequence[Path], state: Path, into: Path) -> None:
    """Replaces the file if its sources changed. It gets the time of their last change:
    a step that runs may change them meanwhile."""
    target = into / name
    changed = max((path.stat().st_mtime_ns for path in sources), default=0)
    is_kept = target.exists() and target.stat().st_mtime_ns == changed
    if not sources or is_kept:
        return
    content = _made(name, sources, state)
    if len(content) <= MOST_BYTES:
        write_files({target: content})
        os.utime(target, ns=(changed, changed))


def keep(state: Path, into: Path) -> None:
    """Brings the files in `into` up to date. Errors: OSError."""
    into.mkdir(parents=True, exist_ok=True)
    for log in state.glob("*/log.txt"):
        _shortened(log)
    alone = {name: state / path for name, path in _ALONE.items()}
    for name, path in alone.items():
        _put(name, [path] if path.is_file() else [], state, into)
    profile = _files_of(state / _PROFILE)
    _put("profile.tar.gz", profile, state, into)
    others = {*alone.values(), *profile, *_files_of(state / _PACKAGES)}
    logs = [path for path in _files_of(state) if path not in others]
    _put("logs.tar.gz", logs, state, into)
