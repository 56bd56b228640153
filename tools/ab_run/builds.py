# SPDX-License-Identifier: MIT
"""Builds the program of a revision in its own worktree."""

import contextlib
import fcntl
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from reports.history.commits import git
from reports.results.refused import Refused
from tools.ab_run.child import Child, run_children
from tools.ab_run.errors import BuildFailed
from tools.ab_run.progress import StatusLine, duration
from tools.ab_run.revisions import Repository

# Files that tools/ab creates in a worktree. Not every revision's .gitignore lists them.
_OWN = ("build/", ".venv")


def _is_at(repository: Repository, tree: Path, commit: str) -> bool:
    """Whether `tree` is a whole worktree of the commit without changes.

    An added file is a change too: the build globs its sources.
    """
    if not (tree / ".git").is_file():
        return False  # interrupted; git would use the outer repository
    try:
        head = git(tree, "rev-parse", "HEAD")
        files = repository.changed_files(at=tree, untracked=True)
    except Refused:  # it is damaged
        return False
    return head == commit and all(file.startswith(_OWN) for file in files)


def worktree(repository: Repository, commit: str) -> Path:
    """The commit's worktree, created if necessary. Errors: BuildFailed."""
    tree = repository.trees / commit[:12] / repository.inner
    if _is_at(repository, tree, commit):
        return tree
    if tree.exists():
        with contextlib.suppress(Refused):
            git(repository.root, "worktree", "remove", "--force", "--force", str(tree))
        shutil.rmtree(tree, ignore_errors=True)
    tree.parent.mkdir(parents=True, exist_ok=True)
    try:
        # An interrupted call leaves a locked entry, which takes a second --force.
        force = ("--force", "--force", "--detach")
        git(repository.root, "worktree", "add", *force, str(tree), commit)
    except Refused as error:
        raise BuildFailed(f"{tree} cannot be made: {error}") from error
    return tree


PROGRAM = Path("build", "release", "benchmarks", "trainbench")
PACKAGE = "trainbench-config.cmake"
_END_OF_LOG = 30  # lines
_STEP = re.compile(rb"\[(\d+/\d+)\]")


@dataclass(frozen=True)
class Project:
    """Experiments in their own repository."""

    source: Path  # the folder of CMakeLists.txt, relative to the repository
    target: str
    package: Path  # the folder with PACKAGE, of an installed or a built trainbench


@contextlib.contextmanager
def _lock(trees: Path) -> Iterator[None]:
    """Waits until no other call builds in this folder."""
    trees.mkdir(parents=True, exist_ok=True)
    path = trees.with_name(f".{trees.name}.lock")
    with path.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print("waiting for another call that is busy with ab ...", file=sys.stderr)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


@dataclass(frozen=True)
class _Build:
    """A build that runs its commands in a tree, with a common log."""

    title: str
    tree: Path
    log: Path
    status_line: StatusLine

    def _tick(self, seconds: float) -> None:
        """Shows the progress that ninja printed last."""
        with self.log.open("rb") as file:
            file.seek(max(0, self.log.stat().st_size - 4096))
            steps = _STEP.findall(file.read())
        step = f" [{steps[-1].decode()}]" if steps else ""
        self.status_line.update(f"{self.title}{step} {duration(seconds)}")

    def run(self, *command: str | Path) -> None:
        """Prints the end of the log on failure. Errors: BuildFailed."""
        words = " ".join(map(str, command))
        # Worktrees share the compiler cache: ccache hashes paths below the base
        # directory relative to the build directory, whose place in a worktree is fixed,
        # and does not hash the working directory.
        shared = {"CCACHE_BASEDIR": str(self.tree), "CCACHE_NOHASHDIR": "true"}
        with self.log.open("ab") as output:
            try:
                environment = os.environ | shared
                child = Child(command, output, output, environment, self.tree)
                (ended,) = run_children([child], tick=self._tick)
            except OSError as error:
                said = f"{self.title}: {words}: {error.strerror}"
                raise BuildFailed(said) from error
        if ended.status != 0:
            end = self.log.read_text(errors="replace").splitlines()[-_END_OF_LOG:]
            self.status_line.print(
                "\n".join([f"--- the end of {self.log}:", *end, "---"])
            )
            raise BuildFailed(f"{self.title}: {words} failed")

    def python(self, root: Path, commit: str) -> Path:
        """The Python environment with the LibTorch for the build.

        Worktrees share it by path. A link in the tree would be an untracked file, and
        the program would report a dirty revision.
        """
        requirements = ("--name-only", commit, "--", "tools/requirements/*.txt")
        if not git(root, "diff", *requirements):
            return root / ".venv" / "bin" / "python"
        self.status_line.print(
            f"{self.title}: it needs other packages, so tools/setup runs in its tree"
        )
        self.run(self.tree / "tools" / "setup")
        return self.tree / ".venv" / "bin" / "python"


def build(
    repository: Repository,
    commit: str,
    name: str,
    status_line: StatusLine,
    project: Project | None = None,
) -> Path:
    """Builds the program of a commit: trainbench, or the project's. Errors:
    BuildFailed."""
    title = f"building {name}"
    with _lock(repository.trees):
        tree = worktree(repository, commit)
        made = tree / "build"
        if project:  # a repository may have several
            made = tree.parent / f"build-{quote(str(project.source), safe='')}"
        log = made / "ab.log"
        made.mkdir(exist_ok=True)
        log.write_bytes(b"")
        status_line.print(f"{title} in {tree} ...")
        started = time.monotonic()
        ours = _Build(title, tree, log, status_line)
        what: list[str | Path]
        if project:  # as tools/cmake/README.md describes
            program, what = made / project.target, [made, "--target", project.target]
            folders = ("-S", tree / project.source, "-B", made)
            package = f"-Dtrainbench_DIR={project.package}"
            release = "-DCMAKE_BUILD_TYPE=Release"
            ours.run("cmake", "-G", "Ninja", *folders, release, package)
        else:
            program = tree / PROGRAM
            what = ["--preset", "release", "--target", "trainbench"]
            python = f"-DTRAINBENCH_PYTHON={ours.python(repository.root, commit)}"
            ours.run("cmake", "--preset", "release", python)
        # tools/ab sets it: one compiler per core, or fewer for less memory.
        jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL", "1")
        ours.run("cmake", "--build", *what, "--parallel", jobs)
        status_line.print(f"built {name} in {duration(time.monotonic() - started)}")
    if not os.access(program, os.X_OK):
        raise BuildFailed(f"{title}: the build made no {program}")
    return program
