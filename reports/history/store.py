# SPDX-License-Identifier: MIT
"""An append-only folder of results: <fingerprint>/<date>-<revision>-<hash>.json.

A name follows from the content, so two writers never use one name for different
results, and adding a result twice changes nothing. The store is portable as plain
files: in a folder, in a git branch, as CI artifacts.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from pathlib import Path

from reports.compare.environment import MUST_AGREE
from reports.results import records
from reports.results.files import write_files
from reports.results.records import NotAResult
from reports.results.refused import Refused
from reports.results.result_file import parse
from reports.results.rows import PREDICTED, Result

INDEX = "index.msgpack"  # rebuilt from the results if it is missing or damaged
VERDICTS = "verdicts"
LeftOut = Callable[[str], None]  # takes the error of a damaged file
_COMMIT = re.compile(r"[0-9a-f]{40}")


_LATER = frozenset(
    """
    models NCCL_BUFFSIZE NCCL_MAX_CTAS NCCL_MAX_NCHANNELS NCCL_MIN_NCHANNELS
    NCCL_NVLS_ENABLE NCCL_SHM_DISABLE OMP_DYNAMIC OMP_PLACES OMP_THREAD_LIMIT
    """.split()
)


def fingerprint(context: Mapping[str, str]) -> str:
    """Hashes the settings that must agree within a series; returns 12 hex digits."""
    # Most stored results have none of these, and keep their series.
    keys = (key for key in MUST_AGREE if key not in _LATER or context.get(key))
    lines = (f"{key}={context.get(key, '')}\n" for key in keys)
    return hashlib.sha256("".join(lines).encode()).hexdigest()[:12]


def read(path: Path) -> tuple[bytes, Result]:
    """Returns the bytes and the content of a result of a clean commit. Errors:
    NotAResult, which names the file."""
    try:
        content = records.read(path)
        result = parse(records.parse(content))
        revision = result.context.get("git_revision", "")
        if not _COMMIT.fullmatch(revision):
            raise NotAResult(f"git_revision is {revision!r}; allowed: 40 hex digits")
        if result.is_dirty:
            raise NotAResult("git_dirty is true: no commit has this program")
        if result.context.get("device_kind") == PREDICTED:
            raise NotAResult("its times are predicted: nothing was measured")
        if result.started is None:
            raise NotAResult("it has no date")
        if not result.rows:
            raise NotAResult("it has no rows")
    except NotAResult as error:
        raise NotAResult(f"{path}: {error}") from error
    return content, result


class Store:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def create(self) -> None:
        """Creates the store unless it exists. Errors: Refused; OSError."""
        # Listed first: a concurrent writer adds .gitignore before other files.
        foreign = any(self.folder.glob("[!.]*"))
        if (self.folder / ".gitignore").exists():
            return
        if foreign:
            raise Refused(f"{self.folder} holds other files; allowed: an empty folder")
        write_files({self.folder / ".gitignore": f"{INDEX}\n.*.tmp\n"})

    def add(self, path: Path) -> Path:
        """Copies a result and returns its path. Errors: NotAResult; OSError."""
        content, result = read(path)
        date = re.sub(r"[-:]|\+.*", "", result.context["date"])
        digest = hashlib.sha256(content).hexdigest()[:8]
        name = f"{date}-{result.revision}-{digest}.json"
        place = self.folder / fingerprint(result.context) / name
        if not place.exists():
            write_files({place: content})
        return place

    def files(self) -> list[str]:
        """Lists the results, relative to the folder. Errors: Refused, if it is none."""
        if not (self.folder / ".gitignore").is_file():
            raise Refused(f"{self.folder} is not a store; tools/history add makes one")
        found = self.folder.glob("[!.]*/*.json")  # verdicts are one level deeper
        return sorted(f"{path.parent.name}/{path.name}" for path in found)
