# SPDX-License-Identifier: MIT
"""Checks out a revision in a worktree, separate from the user's checkout."""

import shutil
from pathlib import Path

from tools.ab_run.errors import BuildFailed
from tools.ab_run.revisions import Repository

# The files that tools/ab creates there. Not every revision's .gitignore lists them.
_OWN = ("build/", ".venv")
REQUIREMENTS = Path("tools", "requirements")


def _is_at(repository: Repository, tree: Path, commit: str) -> bool:
    """Whether `tree` is a whole worktree of the commit without changes.

    An added file is a change too: the build globs its sources.
    """
    if not (tree / ".git").is_file():
        return False  # interrupted; git would use the outer repository
    head = repository.git("rev-parse", "HEAD", at=tree)
    if head.stdout.strip() != commit:
        return False
    files = repository.changed_files(at=tree, untracked=True)
    return all(file.startswith(_OWN) for file in files)


def worktree(repository: Repository, commit: str) -> Path:
    """The worktree among the repository's, made if necessary. Errors: BuildFailed."""
    tree = repository.trees / commit[:12] / repository.inner
    if _is_at(repository, tree, commit):
        return tree
    if tree.exists():
        repository.git("worktree", "remove", "--force", "--force", str(tree))
        shutil.rmtree(tree, ignore_errors=True)
    repository.git("worktree", "prune")
    tree.parent.mkdir(parents=True, exist_ok=True)
    done = repository.git("worktree", "add", "--detach", str(tree), commit)
    if done.returncode != 0:
        raise BuildFailed(f"git worktree add {tree} failed: {done.stderr.strip()}")
    return tree


def _contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.glob("*.txt")}


def has_same_requirements(root: Path, tree: Path) -> bool:
    """Whether the Python environment of `root` suits `tree`."""
    return _contents(root / REQUIREMENTS) == _contents(tree / REQUIREMENTS)
