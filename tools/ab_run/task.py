# SPDX-License-Identifier: MIT
"""Prepares a run: builds both programs and lists their common rows."""

import hashlib
import json
import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reports.compare.ab_decisions import fewest_pairs
from reports.compare.ab_record import AbRun, Side, sha256_of
from tools.ab_run.arguments import Arguments
from tools.ab_run.builds import PACKAGE, Project, build
from tools.ab_run.errors import Usage
from tools.ab_run.progress import StatusLine
from tools.ab_run.revisions import Repository


@dataclass(frozen=True)
class Program:
    path: Path
    name: str  # of its side, for messages

    def _ask(self, *flags: str) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                [self.path, *flags],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
            )
        except OSError as error:
            raise Usage(f"{self.path} cannot be run: {error.strerror}") from error

    def can_shuffle(self) -> bool:
        """Whether it has --shuffle; older revisions do not."""
        return "--shuffle" in self._ask("--help").stdout

    def can_take_turns(self) -> bool:
        """Whether it has --turns; older revisions do not."""
        return self._ask("--turns=0", "--list").returncode == 0

    def rows(self, flags: Sequence[str]) -> list[str]:
        """The names of its cases. Errors: Usage, with the message of the program."""
        done = self._ask(*flags, "--benchmark_list_tests")
        if done.returncode != 0:
            words = done.stderr.strip() or f"exit status {done.returncode}"
            raise Usage(f"{self.name} does not take these flags: {words}")
        return done.stdout.split()


def existing(path: Path, name: str) -> Program:
    """A program that the user built. Errors: Usage."""
    if not path.is_file():
        raise Usage(
            f"--binaries: {path} is {'no file' if path.exists() else 'missing'}"
        )
    if not os.access(path, os.X_OK):
        raise Usage(f"--binaries: {path} is not executable")
    return Program(path.resolve(), name)


@dataclass(frozen=True)
class Task:
    run: AbRun
    programs: dict[str, Program]  # by side
    filter: str | None  # from the user
    flags: list[str]  # from the user, without the filter
    shuffles: bool


def _new_run(arguments: Arguments, base: Side, new: Side) -> AbRun:
    given = arguments.noise
    pattern = arguments.benchmark_filter
    chosen = [] if pattern is None else [f"--benchmark_filter={pattern}"]
    return AbRun(
        base=base,
        new=new,
        flags=[*chosen, *arguments.flags],
        threshold=arguments.threshold,
        confidence=arguments.confidence,
        max_pairs=arguments.max_pairs,
        stops_early=arguments.same is None,
        in_turns=False,
        noise_sha256=None if given is None else sha256_of(given),
    )


def _project(
    arguments: Arguments, directory: Path, root: Path
) -> tuple[Repository, Project]:
    source = directory.resolve()
    if not (source / "CMakeLists.txt").is_file():
        raise Usage(f"--project is {directory}, which has no CMakeLists.txt")
    prefix = (arguments.prefix or root / "build" / "release").resolve()
    found = [*prefix.glob(PACKAGE), *prefix.glob(f"lib*/**/{PACKAGE}")]
    if not found:
        raise Usage(
            f"--prefix is {prefix}, which has no {PACKAGE}; allowed: where trainbench "
            "is installed, or its build tree"
        )
    trees = root / "build" / "ab" / "projects"
    repository = Repository.of(source, trees)
    place = Path(os.path.relpath(source, repository.root))
    target = arguments.target or source.name
    return repository, Project(place, target, found[0].parent)


def _revisions(
    arguments: Arguments, root: Path, status_line: StatusLine
) -> tuple[tuple[Side, Side], tuple[Program, Program]]:
    project = None
    repository = Repository(root, root / "build" / "ab" / "trees")
    if arguments.project:
        repository, project = _project(arguments, arguments.project, root)
    repository.require()
    names = arguments.revisions or [arguments.same or ""] * 2
    commits = [repository.commit(name) for name in names]
    repository.require_clean()
    sides = [
        Side(name, commit, None) for name, commit in zip(names, commits, strict=True)
    ]

    def built(side: int) -> Program:
        commit, name = commits[side], names[side]
        path = build(repository, commit, name, status_line, project)
        return Program(path, name)

    base = built(0)
    same = replace(base, name=names[1])
    new = same if commits[0] == commits[1] else built(1)
    if project:  # its commit does not say which trainbench is in it
        sides = [
            replace(side, sha256=sha256_of(program.path))
            for side, program in zip(sides, (base, new), strict=True)
        ]
    return (sides[0], sides[1]), (base, new)


def _binaries(paths: list[Path]) -> tuple[tuple[Side, Side], tuple[Program, Program]]:
    base, new = (existing(path, str(path)) for path in paths)
    sides = [
        Side(program.name, None, sha256_of(program.path)) for program in (base, new)
    ]
    return (sides[0], sides[1]), (base, new)


def _check_pairs(run: AbRun) -> None:
    """Errors: Usage, if even the last look has too few pairs for an interval."""
    fewest = fewest_pairs(run)
    if run.max_pairs < fewest:
        flag = "--max_pairs" if run.stops_early else "--pairs"
        raise Usage(
            f"{flag} is {run.max_pairs}; an interval for each of {len(run.rows)} "
            f"rows at {run.confidence:.6g} together takes {fewest} pairs"
        )


def prepare(arguments: Arguments, root: Path, status_line: StatusLine) -> Task:
    """Builds the programs if necessary. Errors: Usage, BuildFailed."""
    if arguments.binaries:
        sides, (base, new) = _binaries(arguments.binaries)
    else:
        sides, (base, new) = _revisions(arguments, root, status_line)
    run = _new_run(arguments, *sides)
    listed = base.rows(run.flags)
    known = set(listed if new.path == base.path else new.rows(run.flags))
    rows = [row for row in listed if row in known]
    if not rows:
        raise Usage(f"{base.name} and {new.name} have no row in common")
    distinct = {program.path: program for program in (base, new)}.values()
    shuffles = all(program.can_shuffle() for program in distinct)
    if not shuffles:
        status_line.print(
            "a revision has no --shuffle: all cases run in their usual order"
        )
    in_turns = all(program.can_take_turns() for program in distinct)
    if not in_turns:
        status_line.print(
            "a revision has no --turns: its processes run one after the other"
        )
    run = replace(run, rows=rows, in_turns=in_turns)
    _check_pairs(run)
    programs = {"base": base, "new": new}
    pattern = arguments.benchmark_filter
    return Task(run, programs, pattern, arguments.flags, shuffles)


def request_of(run: AbRun) -> dict[str, object]:
    """The settings that identify a run and determine its rows."""
    return {
        "base": run.base.identity,
        "new": run.new.identity,
        "flags": run.flags,
        "threshold": run.threshold,
        "confidence": run.confidence,
        "pairs": run.max_pairs,
        "stops early": run.stops_early,
        "in turns": run.in_turns,
        "noise": run.noise_sha256,
    }


def key_of(run: AbRun) -> str:
    """A hash of the settings that identify a run."""
    text = json.dumps(request_of(run), sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()
