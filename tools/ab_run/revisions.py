# SPDX-License-Identifier: MIT
"""Resolves the two revisions to commits before anything is built."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tools.ab_run.errors import Usage

_FILES_NAMED = 3


@dataclass(frozen=True)
class Repository:
    root: Path
    trees: Path  # with one folder per revision
    inner: str = ""  # subfolder into which a revision is checked out

    def git(
        self, *arguments: str, at: Path | None = None
    ) -> subprocess.CompletedProcess[str]:
        directory = at or self.root
        # A source tree inside another repository must not use the outer one.
        ceiling = {"GIT_CEILING_DIRECTORIES": str(directory.parent)}
        try:
            return subprocess.run(
                ["git", "--no-optional-locks", *arguments],
                cwd=directory,
                env=os.environ | ceiling,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                check=False,
            )
        except OSError as error:
            raise Usage(f"git cannot be run: {error}") from error

    @classmethod
    def of(cls, directory: Path, trees: Path) -> "Repository":
        """The repository of a directory, or the directory itself if it has none. Builds
        are outside its worktrees, since it may not ignore a folder named build."""
        around = (directory, *directory.parents)
        root = next((one for one in around if (one / ".git").exists()), directory)
        return cls(root, trees, "tree")

    def require(self) -> None:
        """Errors: Usage, if `root` is not a checkout."""
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
