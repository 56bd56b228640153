# SPDX-License-Identifier: MIT
"""Reads the record of a run of tools/ab, with a check of every field."""

from pathlib import Path
from typing import Any, get_args

from reports.compare.ab_record import (
    FILE,
    KIND,
    SIDES,
    VERSION,
    AbRun,
    NotAnAbRun,
    Process,
    Reason,
    Side,
)
from reports.compare.fields import Fields
from reports.results import strict_json


def _side(fields: Fields) -> Side:
    revision, sha256 = fields.word_or_none("revision"), fields.word_or_none("sha256")
    if revision is None and sha256 is None:
        raise fields.wrong("revision", "that or sha256")
    return Side(fields.word("label"), revision, sha256)


def _process(fields: Fields) -> Process:
    position = fields.whole("position", 0)
    pair = fields.whole("pair", 0)
    if pair != position // 2:
        raise fields.wrong("pair", f"{position // 2}, by its position")
    file = fields.word("file")
    if Path(file).name != file or not file.endswith(".json"):
        raise fields.wrong("file", "the name of a .json file in the directory")
    return Process(
        file=file,
        side=fields.one_of("side", SIDES),
        pair=pair,
        position=position,
        seed=fields.whole("seed", 0),
        seconds=fields.number("seconds", 0),
    )


def _processes(fields: list[Fields]) -> list[Process]:
    found: dict[int, Process] = {}
    sides: set[tuple[int, str]] = set()
    files: set[str] = set()
    for entry in fields:
        process = _process(entry)
        if process.position in found:
            raise entry.wrong("position", "each one once")
        if (process.pair, process.side) in sides:
            raise entry.wrong("side", "each one once in a pair")
        if process.file in files:
            raise entry.wrong("file", "each one once")
        found[process.position] = process
        sides.add((process.pair, process.side))
        files.add(process.file)
    return [found[position] for position in sorted(found)]


def _parse(document: Any) -> AbRun:
    fields = Fields(document, "it")
    for key, expected in (("kind", KIND), ("version", VERSION)):
        if fields[key] != expected or isinstance(fields[key], bool):
            raise NotAnAbRun(f"its {key} is {fields.shown(key)}, expected {expected!r}")
    rows = fields.words("rows")
    if len(set(rows)) < len(rows):
        raise fields.wrong("rows", "each one once")
    return AbRun(
        base=_side(fields.inner("base")),
        new=_side(fields.inner("new")),
        flags=fields.words("flags"),
        threshold=fields.between("threshold", 0, 1),
        confidence=fields.between("confidence", 0.5, 1),
        max_pairs=fields.whole("max_pairs", 1),
        stops_early=fields.flag("stops_early"),
        # Runs of before are without it.
        in_turns="in_turns" in fields and fields.flag("in_turns"),
        noise_sha256=fields.word_or_none("noise_sha256"),
        rows=rows,
        ended=fields.one_of("ended", (None, *get_args(Reason))),
        processes=_processes(fields.all_inner("processes")),
    )


def load(directory: Path) -> AbRun:
    """Errors: NotAnAbRun."""
    path = directory / FILE
    try:
        return _parse(strict_json.load(path))
    except NotAnAbRun as error:
        raise NotAnAbRun(f"{path}: {error}") from error
    except ValueError as error:
        raise NotAnAbRun(f"{path}: no run of tools/ab: {error}") from error
