# SPDX-License-Identifier: MIT
"""Resolves the two revisions to commits before anything is built."""

from dataclasses import dataclass
from pathlib import Path

from reports.history.commits import git, revision_of
from reports.results.refused import Refused
from tools.ab_run.errors import Usage

_FILES_NAMED = 3


@dataclass(frozen=True)
class Repository:
    root: Path
    trees: Path  # with one folder per revision
    inner: str = ""  # subfolder into which a revision is checked out

    @classmethod
    def of(cls, directory: Path, trees: Path) -> "Repository":
        """The repository of a directory, or the directory itself if it has none. Builds
        are outside its worktrees, since it may not ignore a folder named build."""
        around = (directory, *directory.parents)
        root = next((one for one in around if (one / ".git").exists()), directory)
        return cls(root, trees, "tree")

    def require(self) -> None:
        """Errors: Usage, if `root` is not a checkout."""
        try:
            git(self.root, "rev-parse", "--git-dir")
        except OSError as error:
            raise Usage(f"git cannot be run: {error}") from error
        except Refused as error:
            raise Usage(
                f"{self.root} is not a git checkout, so it has no revisions; "
                "--binaries compares two programs"
            ) from error

    def commit(self, revision: str) -> str:
        """The full hash of a revision. Errors: Usage."""
        try:
            return revision_of(self.root, revision)
        except Refused as error:
            raise Usage(f"unknown revision '{revision}'") from error

    def changed_files(
        self, at: Path | None = None, *, untracked: bool = False
    ) -> list[str]:
        """The tracked files that differ from the commit, optionally untracked ones.

        Errors: Refused, if git cannot read the checkout.
        """
        which = f"--untracked-files={'all' if untracked else 'no'}"
        changes = git(at or self.root, "status", "--porcelain", which)
        return [line[3:] for line in changes.splitlines()]

    def require_clean(self) -> None:
        """Errors: Usage, if there are uncommitted changes."""
        files = self.changed_files()
        if not files:
            return
        named = ", ".join(files[:_FILES_NAMED])
        more = len(files) - _FILES_NAMED
        rest = f" and {more} more" if more > 0 else ""
        raise Usage(
            f"uncommitted changes would not be measured: {named}{rest}; commit "
            "them, or build them yourself and use --binaries"
        )
