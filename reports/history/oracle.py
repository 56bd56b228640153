# SPDX-License-Identifier: MIT
"""Asks tools/ab whether a row changed between two commits, and stores the answers."""

import hashlib
import json
import re
import shutil
import signal
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reports.compare.ab_record import RESULT, RESULT_KIND, VERSION, Process
from reports.compare.decision import Verdict
from reports.compare.environment import MUST_AGREE, Context, differences
from reports.compare.exact import MetricChange
from reports.compare.filters import escaped
from reports.history.store import VERDICTS, LeftOut, Store
from reports.results import records, result_file
from reports.results.files import write_files
from reports.results.records import NotAResult
from reports.results.refused import Refused

# Limits for a row that stays undecided. The looks of tools/ab share a question's error,
# so a question is asked only once.
MAX_PAIRS, _MAX_MINUTES = 120, 120
# Exit statuses: 2, a commit lacks the row or a flag; 3, it has no build. 0 and 1 come
# with a result; 1 without one says that every run died.
_CANNOT = (2, 3)
# Flags that do not affect which cases exist: how long to measure, where to write.
_NOT_CASES = re.compile(
    r"--?(benchmark_\w+|samples\w*|processes|rounds|resume|shuffle|shard|seed|warmup"
    r"|max_case_seconds|(memory_)?trace)(=|$)"
)
_OF_PAIRS = ("sampling", "seed", "settings")  # tools/ab has its own


class CannotMeasure(Refused):
    """A commit cannot be built, or does not measure the row, or not on this machine."""


@dataclass(frozen=True)
class Question:
    row: str
    good: str  # commits, 40 hex digits
    bad: str
    flags: Sequence[str]  # the flags with which the program has the row
    threshold: float = 0.02  # the smallest ratio - 1 that matters
    confidence: float = 0.95
    machine: str = ""  # the fingerprint of a series

    def directory(self, root: Path) -> Path:
        """Returns the folder from which tools/ab resumes the same question."""
        text = json.dumps(list(vars(self).values()))
        digest = hashlib.sha256(text.encode()).hexdigest()[:12]
        return root / "results" / "history-ab" / digest

    def command(self, root: Path, minutes: float) -> list[str]:
        return [
            *(str(root / "tools" / "ab"), self.good, self.bad),
            f"--threshold={100 * self.threshold:.6g}",
            f"--confidence={100 * self.confidence:.12g}",
            f"--max_pairs={MAX_PAIRS}",
            f"--max_minutes={minutes:g}",
            f"--out={self.directory(root)}",
            f"--benchmark_filter=^{escaped(self.row)}$",
            *self.flags,
        ]


@dataclass(frozen=True)
class Answer:
    """A row of a comparison (`reports/compare/as_json.py`), and its commits."""

    name: str  # of the row
    verdict: Verdict
    ratio: float  # bad / good
    interval: tuple[float, float] | None  # of the ratio
    pairs: int
    changes: list[MetricChange]
    good: str = ""
    bad: str = ""

    @property
    def changed(self) -> list[str]:
        """The names of the exact counters that changed."""
        return [change.metric for change in self.changes]

    def is_bad(self, metric: str | None) -> bool | None:
        """Returns whether the counter changed, or else whether the time regressed; None
        if that is undecided."""
        if metric is not None:
            return metric in self.changed
        is_open = self.verdict is Verdict.INCONCLUSIVE
        return None if is_open else self.verdict is Verdict.REGRESSED


Oracle = Callable[[Question], Answer]


def flags_of(command: str) -> list[str]:
    """Returns the flags, as --name=value, of a stored command line that select its
    cases. The program joined its words without quotes."""
    words = (part.split() for part in re.split(r"\s(?=-)", command)[1:])
    flags = ("=".join(each[: 1 if "=" in each[0] else 2]) for each in words)
    return [flag for flag in flags if not _NOT_CASES.match(flag)]


@dataclass(frozen=True)
class _Side:
    git_revisions: list[str]


@dataclass(frozen=True)
class _Comparison:
    base: _Side
    new: _Side
    rows: list[Answer]


def _answers(comparison: Any) -> list[Answer]:
    """Converts a comparison to answers. Errors: NotAResult."""
    known = records.record(comparison, _Comparison, "a comparison")
    good, bad = ("".join(side.git_revisions) for side in (known.base, known.new))
    return [replace(answer, good=good, bad=bad) for answer in known.rows]


def _run(command: Sequence[str]) -> int:
    """Runs tools/ab and returns its status. An interrupt ends it in an orderly way."""
    for number in (signal.SIGTERM, signal.SIGHUP):  # a cancelled job, a closed terminal
        if signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, signal.default_int_handler)
    # A terminal's Ctrl-C must not reach it, too: its second signal does not wait.
    nowhere = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=nowhere, start_new_session=True) as ab:
        try:
            return ab.wait()
        except KeyboardInterrupt:
            # It heeds SIGTERM even if a background job's shell made it ignore SIGINT.
            ab.terminate()
            ab.wait()
            raise


def ask(question: Question, root: Path, minutes: float = _MAX_MINUTES) -> Answer:
    """Measures, or resumes or reuses an earlier call's measurement. Errors:
    CannotMeasure; Refused, if tools/ab fails; OSError."""
    status = _run(question.command(root, minutes))
    path = question.directory(root) / RESULT
    if status in _CANNOT or (status == 1 and not path.exists()):
        either = f"{question.good[:10]} or {question.bad[:10]}"
        raise CannotMeasure(f"tools/ab cannot measure {either} (status {status})")
    if status not in (0, 1):
        raise Refused(f"tools/ab ended with status {status}")
    try:
        found = _answers(records.saved(path, RESULT_KIND, VERSION).get("comparison"))
    except NotAResult as error:
        raise Refused(f"{path}: {error}") from error
    if not found:
        raise CannotMeasure(f"a commit does not measure {question.row}")
    return found[0]


def elsewhere(question: Question, root: Path, stored: Context) -> str:
    """Says how this machine differs from a stored result's; "" if it does not. Measures
    a pair for that, unless the answer has one. Errors: NotAResult; as `ask`."""
    directory = question.directory(root)
    first = directory / Process("base", 0).file
    if not first.exists():
        # Too little time for an interval: `ask` goes on after this pair.
        ask(question, root, minutes=1e-9)
    here = result_file.load(first).context
    keys = [key for key in MUST_AGREE if key not in _OF_PAIRS]
    found = differences(keys, [stored], [here])
    if found:
        shutil.rmtree(directory)  # the other machine begins anew
    return "; ".join(map(str, found))


def keep(question: Question, root: Path, folder: Path) -> None:
    """Copies an answer from the directory of tools/ab to a folder. Errors: NotAResult,
    OSError."""
    directory = question.directory(root)
    comparison = records.saved(directory / RESULT, RESULT_KIND, VERSION)["comparison"]
    write_files({folder / f"{directory.name}.json": json.dumps(comparison, indent=1)})


def verdicts(store: Store, fingerprint: str, left_out: LeftOut) -> Iterator[Answer]:
    """Yields the stored answers; `left_out` gets the errors of damaged files."""
    for path in sorted((store.folder / VERDICTS / fingerprint).glob("*.json")):
        try:
            yield from _answers(records.load(path))
        except NotAResult as error:
            left_out(f"{path}: {error}")
