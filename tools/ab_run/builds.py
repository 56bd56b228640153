# SPDX-License-Identifier: MIT
"""Builds the program of a revision, in a worktree of its own."""

import contextlib
import fcntl
import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from tools.ab_run.child import run_child
from tools.ab_run.errors import BuildFailed
from tools.ab_run.progress import Lines, duration
from tools.ab_run.revisions import Repository
from tools.ab_run.worktrees import has_same_requirements, worktree

PROGRAM = Path("build", "release", "benchmarks", "trainbench")
_END_OF_LOG = 30  # lines
_STEP = re.compile(rb"\[(\d+/\d+)\]")


@contextlib.contextmanager
def _lock(root: Path) -> Iterator[None]:
    """Waits for other calls that build revisions in this checkout."""
    path = root / "build" / ".ab.lock"
    path.parent.mkdir(exist_ok=True)
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("waiting for another call that is busy with ab ...", file=sys.stderr)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _jobs() -> str:
    """One compiler per core, but each may need 2 GB."""
    given = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL")
    if given:
        return given
    text = Path("/proc/meminfo").read_text()
    available = re.search(r"^MemAvailable: *(\d+) kB", text, re.MULTILINE)
    memory = int(available[1]) // 2**21 if available else 1
    return str(max(1, min(len(os.sched_getaffinity(0)), memory)))


def _environment(tree: Path) -> dict[str, str]:
    """With a compiler cache that finds in one worktree what another compiled.

    Paths below the base directory are hashed relative to the build's, which is at
    the same place in every worktree, and the working directory is not hashed.
    """
    return os.environ | {"CCACHE_BASEDIR": str(tree), "CCACHE_NOHASHDIR": "true"}


def _last_step(log: Path) -> str:
    """How far ninja has come, as it says itself."""
    with log.open("rb") as file:
        file.seek(max(0, log.stat().st_size - 4096))
        steps = _STEP.findall(file.read())
    return f" [{steps[-1].decode()}]" if steps else ""


def _run(
    command: Sequence[str | Path], tree: Path, log: Path, title: str, lines: Lines
) -> None:
    """Errors: BuildFailed, after the end of the log was shown."""

    def tick(seconds: float) -> None:
        lines.update(f"{title}{_last_step(log)} {duration(seconds)}")

    words = " ".join(str(word) for word in command)
    with log.open("ab") as output:
        try:
            ended = run_child(
                command,
                output=output,
                errors=output,
                environment=_environment(tree),
                directory=tree,
                whole_group=True,
                tick=tick,
            )
        except OSError as error:
            raise BuildFailed(f"{title}: {words}: {error.strerror}") from error
    if ended.status != 0:
        end = log.read_text(errors="replace").splitlines()[-_END_OF_LOG:]
        lines.say("\n".join([f"--- the end of {log}:", *end, "---"]))
        raise BuildFailed(f"{title}: {words} failed")


def _python(root: Path, tree: Path, log: Path, title: str, lines: Lines) -> Path:
    """The one whose LibTorch the revision is built with.

    Shared by name and not by a link in the tree, which would be a file that git
    does not know there: the program would call its revision dirty.
    """
    if has_same_requirements(root, tree):
        return root / ".venv" / "bin" / "python"
    lines.say(f"{title}: it needs other packages, so tools/setup runs in its tree")
    _run([tree / "tools" / "setup"], tree, log, title, lines)
    return tree / ".venv" / "bin" / "python"


def build(repository: Repository, commit: str, name: str, lines: Lines) -> Path:
    """The program of that commit. Errors: BuildFailed."""
    title = f"building {name}"
    with _lock(repository.root):
        tree = worktree(repository, commit)
        log = tree / "build" / "ab.log"
        log.parent.mkdir(exist_ok=True)
        log.write_bytes(b"")
        lines.say(f"{title} in {tree} ...")
        started = time.monotonic()
        python = _python(repository.root, tree, log, title, lines)
        setting = f"-DTRAINBENCH_PYTHON={python}"
        _run(["cmake", "--preset", "release", setting], tree, log, title, lines)
        command = ["cmake", "--build", "--preset", "release", "--target", "trainbench"]
        _run([*command, "--parallel", _jobs()], tree, log, title, lines)
        lines.say(f"built {name} in {duration(time.monotonic() - started)}")
    if not os.access(tree / PROGRAM, os.X_OK):
        raise BuildFailed(f"{title}: the build made no {tree / PROGRAM}")
    return tree / PROGRAM
