# SPDX-License-Identifier: MIT
"""Resolves the two revisions to commits before anything is built."""

import os
import subprocess
from dataclasses import dataclass, replace
from pathlib import Path

from tools.ab_run.errors import Usage

_FILES_NAMED = 3


@dataclass(frozen=True)
class Repository:
    root: Path
    trees: Path  # where its revisions are, each in a folder
    inner: str = ""  # in which they are checked out

    def git(
        self, *arguments: str, at: Path | None = None, ceiling: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """In `at`, else in the root; with a ceiling not in a repository around it."""
        directory = at or self.root
        variables = {"GIT_CEILING_DIRECTORIES": str(directory.parent)}
        try:
            return subprocess.run(
                ["git", "--no-optional-locks", *arguments],
                cwd=directory,
                env=os.environ | (variables if ceiling else {}),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
        except OSError as error:
            raise Usage(f"git cannot be run: {error}") from error

    @classmethod
    def of(cls, directory: Path, trees: Path) -> "Repository":
        """The one that a directory belongs to, or would be. Its builds are outside of
        its trees, since it need not ignore a folder build."""
        found = cls(directory, trees, "tree")
        done = found.git("rev-parse", "--show-toplevel", ceiling=False)
        return replace(found, root=Path(done.stdout.strip() or directory))

    def require(self) -> None:
        """Errors: Usage, if `root` is no checkout."""
        if self.git("rev-parse", "--git-dir").returncode != 0:
            raise Usage(
                f"{self.root} is not a git checkout, so it has no revisions; "
                "--binaries compares two programs"
            )

    def commit(self, revision: str) -> str:
        """The full hash of a revision. Errors: Usage."""
        done = self.git(
            "rev-parse",
            "--verify",
            "--quiet",
            "--end-of-options",
            f"{revision}^{{commit}}",
        )
        if done.returncode != 0:
            raise Usage(f"unknown revision '{revision}'")
        return done.stdout.strip()

    def changed_files(
        self, at: Path | None = None, *, untracked: bool = False
    ) -> list[str]:
        """The tracked files that differ from the commit, optionally untracked ones."""
        which = "all" if untracked else "no"
        done = self.git("status", "--porcelain", f"--untracked-files={which}", at=at)
        return [line[3:] for line in done.stdout.splitlines()]

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
