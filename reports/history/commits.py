# SPDX-License-Identifier: MIT
"""The commits of a branch, in order of its history."""

import os
import re
import subprocess
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from reports.results.refused import Refused


@dataclass(frozen=True)
class Commit:
    revision: str  # 40 hex digits
    date: str  # YYYY-MM-DD
    subject: str

    @property
    def short(self) -> str:
        return self.revision[:10]

    def __str__(self) -> str:
        return f"{self.short} {self.subject}"


def git(root: Path, *arguments: str, words: str = "") -> str:
    """Runs git and returns its output. Errors: Refused."""
    # A folder inside another repository must not use the outer one.
    ceiling = {"GIT_CEILING_DIRECTORIES": str(root.resolve().parent)}
    done = subprocess.run(
        ["git", "-C", root, "--no-optional-locks", *arguments],
        env=os.environ | ceiling,
        input=words,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode != 0:
        raise Refused(f"git {arguments[0]} in {root}: {done.stderr.strip()}")
    return done.stdout.rstrip()


def line_of(root: Path, branch: str) -> list[Commit]:
    """Lists a branch's first-parent commits, oldest first. Errors: Refused."""
    # A subject may hold a character that Python counts as the end of a line.
    options = ("-z", "--reverse", "--first-parent", "--format=%H%x09%cs%x09%s")
    log = git(root, "log", *options, "--end-of-options", branch, "--")
    return [Commit(*entry.split("\t", 2)) for entry in log.rstrip("\0").split("\0")]


def revision_of(root: Path, name: str) -> str:
    """Returns the full hash of a revision. Errors: Refused."""
    options = ("--verify", "--end-of-options")
    try:
        return git(root, "rev-parse", *options, f"{name}^{{commit}}")
    except Refused as error:
        raise Refused(f"{name!r} is not a commit: {error}") from error


def unknown(root: Path, revisions: Collection[str]) -> set[str]:
    """Returns the revisions that the repository lacks. Errors: Refused."""
    options = ("--no-walk", "--ignore-missing", "--stdin")
    found = git(root, "rev-list", *options, words="\n".join(revisions))
    return {*revisions}.difference(found.split())


def address_of(root: Path) -> str:
    """Returns a commit's web address without its hash; "" without a remote host."""
    remote = git(root, "config", "--default", "", "--get", "remote.origin.url")
    try:
        url = urlsplit(re.sub(r"^([^/:]+):(?!//)", r"ssh://\1/", remote))  # host:path
    except ValueError:
        return ""
    is_web = url.scheme in ("http", "https")  # its port is also the address's
    host = url.netloc.rpartition("@")[2] if is_web else url.hostname
    path = url.path.strip("/").removesuffix(".git")
    return f"https://{host}/{path}/commit/" if host else ""
