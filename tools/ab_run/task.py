# SPDX-License-Identifier: MIT
"""Prepares a run: builds both programs and lists their common rows."""

import hashlib
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from reports.compare.ab_decisions import fewest_pairs
from reports.compare.ab_record import AbRun, Side, sha256_of
from reports.compare.noise import load_noise
from tools.ab_run.arguments import Arguments
from tools.ab_run.builds import PACKAGE, Project, build
from tools.ab_run.errors import Rebuilt, Usage
from tools.ab_run.progress import StatusLine
from tools.ab_run.revisions import Repository


@dataclass(frozen=True)
class Program:
    path: Path
    side: Side
    mtime_ns: int

    def check(self) -> None:
        """Errors: Rebuilt, if it is not the measured program any more; OSError."""
        if self.path.stat().st_mtime_ns != self.mtime_ns:
            raise Rebuilt(f"{self.path} was rebuilt during the run")

    def rows(self, flags: Sequence[str]) -> list[str]:
        """The names of its cases. Errors: Usage, with the message of the program, for
        example if it lacks --turns."""
        try:
            done = subprocess.run(
                [self.path, *flags, "--turns=0", "--benchmark_list_tests"],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
            )
        except OSError as error:
            raise Usage(f"{self.path} cannot be run: {error.strerror}") from error
        if done.returncode != 0:
            words = done.stderr.strip() or f"exit status {done.returncode}"
            if "unknown flag '--turns'" in words:
                raise Usage(
                    f"{self.side.label} has no --turns, as before suite_version 2"
                )
            raise Usage(f"{self.side.label} rejects these flags: {words}")
        return done.stdout.split()


def existing(path: Path) -> Program:
    """A program that the user built. Errors: Usage."""
    if not path.is_file():
        raise Usage(
            f"--binaries: {path} is {'no file' if path.exists() else 'missing'}"
        )
    if not os.access(path, os.X_OK):
        raise Usage(f"--binaries: {path} is not executable")
    side = Side(str(path), None, sha256_of(path))
    return Program(path.resolve(), side, path.stat().st_mtime_ns)


@dataclass(frozen=True)
class Task:
    run: AbRun
    programs: dict[str, Program]  # by side


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
) -> tuple[Program, Program]:
    project = None
    repository = Repository(root, root / "build" / "ab" / "trees")
    if arguments.project:
        repository, project = _project(arguments, arguments.project, root)
    repository.require()
    names = arguments.revisions or [arguments.same or ""] * 2
    commits = [repository.commit(name) for name in names]
    if names != commits:  # full hashes mean what is committed
        repository.require_clean()

    def built(name: str, commit: str) -> Program:
        path = build(repository, commit, name, status_line, project)
        # A project's commit does not say which trainbench is in it.
        sha256 = sha256_of(path) if project else None
        return Program(path, Side(name, commit, sha256), path.stat().st_mtime_ns)

    base = built(names[0], commits[0])
    if commits[0] == commits[1]:
        return base, replace(base, side=replace(base.side, label=names[1]))
    return base, built(names[1], commits[1])


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
    """Builds the programs if necessary. Errors: Usage, BuildFailed, NotAResult."""
    noise = load_noise(arguments.noise) if arguments.noise else None
    if arguments.binaries:
        base, new = map(existing, arguments.binaries)
    else:
        base, new = _revisions(arguments, root, status_line)
    pattern = arguments.benchmark_filter
    chosen = [] if pattern is None else [f"--benchmark_filter={pattern}"]
    flags = [*chosen, *arguments.flags]
    listed = base.rows(flags)
    known = set(listed if new.path == base.path else new.rows(flags))
    rows = [row for row in listed if row in known]
    if not rows:
        raise Usage(f"{base.side.label} and {new.side.label} have no row in common")
    run = AbRun(
        base=base.side,
        new=new.side,
        flags=flags,
        threshold=arguments.threshold,
        confidence=arguments.confidence,
        max_pairs=arguments.max_pairs,
        stops_early=arguments.same is None,
        noise=noise,
        rows=rows,
    )
    _check_pairs(run)
    return Task(run, {"base": base, "new": new})


def _hash_of(document: Mapping[str, object]) -> str:
    text = json.dumps(document, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


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
        "noise": run.noise and _hash_of(asdict(run.noise)),
    }


def key_of(run: AbRun) -> str:
    """A hash of the settings that identify a run."""
    return _hash_of(request_of(run))
