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

# Where each file of the state comes back: alone, .gz if compressed, or packed.
_ALONE = {
    "proof.json": "proof.json",
    "05-smoke/smoke.json": "smoke.json",
    f"08-suite/{SUITE}.json": f"{SUITE}.json",
    f"08-suite/{SUITE}.samples.jsonl": f"{SUITE}.samples.jsonl.gz",
    "12-ncu/log.txt": "ncu.txt",
    "dmon.txt": "dmon.txt",
}
# Only this machine can use the packages of export_aoti.
_PACKED = {"07-breakdown": "profile.tar.gz", "aoti": ""}
_LOGS = "logs.tar.gz"
FILES = {*_ALONE.values(), *_PACKED.values(), _LOGS} - {""}


def _content(path: Path) -> bytes:
    """The content; only both ends of a long log, which may displace the other logs."""
    size = path.stat().st_size
    if path.name != "log.txt" or size <= 2 * _LOG_BYTES:
        return path.read_bytes()
    with path.open("rb") as file:
        head = file.read(_LOG_BYTES)
        file.seek(size - _LOG_BYTES)
        tail = file.read(_LOG_BYTES)
    left_out = f"\n... {size - 2 * _LOG_BYTES} bytes ...\n".encode()
    return head + left_out + tail


def _packed(sources: Sequence[Path], state: Path) -> bytes:
    """Packs all sources, or only the smaller ones that fit."""
    contents = {path: _content(path) for path in sources}
    kept = sorted(sources, key=lambda path: len(contents[path]))
    while True:
        made = io.BytesIO()
        with tarfile.open(fileobj=made, mode="w:gz", compresslevel=6) as archive:
            for path in kept:
                member = archive.gettarinfo(path, str(path.relative_to(state)))
                member.size = len(contents[path])
                archive.addfile(member, io.BytesIO(contents[path]))
        if made.tell() <= MOST_BYTES or not kept:
            return made.getvalue()
        kept.pop()


def _made(name: str, sources: Sequence[Path], state: Path) -> bytes:
    if name.endswith(".tar.gz"):
        return _packed(sources, state)
    content = _content(sources[0])
    return gzip.compress(content) if name.endswith(".gz") else content


def _put(name: str, sources: Sequence[Path], state: Path, into: Path) -> None:
    """Replaces the file if its sources changed. It gets the time of their last change:
    a step that runs may change them meanwhile."""
    target = into / name
    changed = max(path.stat().st_mtime_ns for path in sources)
    if target.exists() and target.stat().st_mtime_ns == changed:
        return
    content = _made(name, sources, state)
    if len(content) <= MOST_BYTES:
        write_files({target: content})
        os.utime(target, ns=(changed, changed))


def keep(state: Path, into: Path) -> None:
    """Brings the files in `into` up to date. Errors: OSError."""
    into.mkdir(parents=True, exist_ok=True)
    sources: dict[str, list[Path]] = {}
    for path in sorted(state.rglob("*")):
        place = path.relative_to(state)
        name = _ALONE.get(str(place)) or _PACKED.get(place.parts[0], _LOGS)
        # Others are about to be renamed.
        if name and path.is_file() and path.suffix != ".tmp":
            sources.setdefault(name, []).append(path)
    for name, paths in sources.items():
        _put(name, paths, state, into)
