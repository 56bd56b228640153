# SPDX-License-Identifier: MIT
"""The commands of tools/history. The docstring of each function is its help text."""

import argparse
import sys
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path

from reports.compare.environment import MUST_AGREE, differences
from reports.history import bisect as steps
from reports.history import commits, findings, index, oracle, pages
from reports.history import export as exports
from reports.history.divisive import WINDOW
from reports.history.explain import explained
from reports.history.findings import KIND_OF, Finding, Kind
from reports.history.oracle import Answer, CannotMeasure, Question
from reports.history.series import FEWEST, Series, series_of
from reports.history.store import VERDICTS, Store
from reports.results import result_file, text
from reports.results.counters import default_table
from reports.results.files import write_files
from reports.results.records import NotAResult
from reports.results.refused import Refused
from reports.results.rows import Result

GOOD, BAD, USAGE = 0, 1, 2


def _say(words: str) -> None:
    print(words, file=sys.stderr)


def _leave_out(words: str) -> None:
    _say(f"left out: {words}")


class History:
    """The store and the commits; stderr says what is left out. Errors: Refused."""

    def __init__(self, given: argparse.Namespace) -> None:
        self.store = Store(given.store)
        entries = index.load(self.store, _leave_out)
        self.line = commits.line_of(given.repository, given.branch)
        self.series = series_of(entries, self.line)
        self._alpha = given.alpha
        strays = {e.revision for e in entries} - {c.revision for c in self.line}
        gone = commits.unknown(given.repository, strays)
        for revision in sorted(strays):
            where = "here" if revision in gone else f"on {given.branch}"
            why = "history was rewritten, or is cut"
            _leave_out(f"{revision[:10]} is not a commit {where}: {why}")

    def changes(self) -> Iterator[tuple[Series, list[Finding]]]:
        """Yields each series and its changes."""
        for series in self.series:
            if count := series.too_few:
                where = f"in {text.plural(count, 'commit')}"
                _leave_out(f"times {where} with fewer than {FEWEST} processes")
            answers = oracle.verdicts(self.store, series.fingerprint, _leave_out)
            yield series, findings.findings(series, answers, self._alpha)


def add(given: argparse.Namespace) -> int:
    """stores results, or all in a folder; reports and leaves out invalid ones"""
    store = Store(given.store)
    store.create()
    status = GOOD
    for named in given.results:
        for path in sorted(named.rglob("*.json")) if named.is_dir() else [named]:
            try:
                print(store.add(path))
            except NotAResult as error:
                _leave_out(str(error))
                status = USAGE
    return status


def check(given: argparse.Namespace) -> int:
    """lists changes and their commits; changes of times are only suspicions"""
    history = History(given)
    status = GOOD
    place = history.line.index
    newest = max((place(each.commits[-1]) for each in history.series), default=0)
    for series, changes in history.changes():
        last = len(series.commits) - 1
        # A machine, or flags, that are not used any more do not count.
        is_current = newest - place(series.commits[last]) < WINDOW
        size = f" to {series.commits[-1].short}, ".join(series.size)
        print(f"{series.fingerprint}: {series.system}, {size}")
        lines = [("change", "row", "by how much", "commit")]
        for found in changes:
            causes = found.commits(series, history.line)
            several = f"one of {len(causes)}, up to " if len(causes) > 1 else ""
            what = (found.kind, found.row or "all", found.words)
            lines.append((*what, f"{several}{causes[-1]}"))
            age = last - found.after
            is_open = found.kind is Kind.SUSPECTED and age < WINDOW
            is_new = found.is_worse and age == 0
            status = BAD if is_current and (is_open or is_new) else status
        listed = text.columns(lines, left=range(4)) if changes else ["no change"]
        print("\n".join(listed))
    return status


def _flags(given: argparse.Namespace, series: Series, row: str) -> Sequence[str]:
    """Returns the flags with which the program has the row."""
    command = series.newest[row].context.get("command_line", "")
    return given.flags or oracle.flags_of(command)


def _words(answer: Answer) -> str:
    change = findings.interval(answer.ratio, answer.interval)
    what = f"{KIND_OF[answer.verdict]} {answer.name} {change} by {answer.pairs} pairs"
    counters = "".join(f", {name} changed" for name in answer.changed)
    return f"{what}{counters}, {answer.good[:10]}..{answer.bad[:10]}"


def confirm(given: argparse.Namespace) -> int:
    """measures suspected changes with tools/ab once, newest first; stores verdicts"""
    history = History(given)
    open_ = [
        (series, found)
        for series, changes in history.changes()
        for found in changes
        if found.kind is Kind.SUSPECTED and not found.is_asked
    ]
    status, answers, elsewhere = GOOD, 0, set[str]()
    for series, found in reversed(open_):
        if answers == given.most or series.fingerprint in elsewhere:
            continue
        good, bad = (series.commits[point].revision for point in found.ends)
        flags = _flags(given, series, found.row)
        threshold = findings.threshold_for(found.least)
        machine, stored = series.fingerprint, series.contexts[-1]
        question = Question(found.row, good, bad, flags, threshold, machine=machine)
        kept = history.store.folder / VERDICTS / machine
        try:
            if listed := oracle.elsewhere(question, given.repository, stored):
                _say(f"skipped: {found.row} is of another machine: {listed}")
                elsewhere.add(machine)
                continue
            answer = oracle.ask(question, given.repository)
            oracle.keep(question, given.repository, kept)
        except CannotMeasure as error:
            _say(f"not measured: {found.row}: {error}")
            status = status or USAGE
            continue
        answers += 1
        print(_words(answer), flush=True)  # the next one takes minutes
        status = BAD if KIND_OF[answer.verdict] is Kind.CONFIRMED else status
    return status


def _stored_flags(given: argparse.Namespace) -> Sequence[str]:
    """Returns the flags with which a stored result has the row. Errors: Refused."""
    # A null GPU has no times.
    known = [
        series
        for series in History(given).series
        if given.row in series.rows
        and (given.metric or series.points(series.rows.index(given.row)).size)
    ]
    if not known:
        raise Refused(
            f"no stored result has a time of {given.row!r}; allowed without one: "
            "flags of the program, after --"
        )
    return _flags(given, known[-1], given.row)


def bisect(given: argparse.Namespace) -> int:
    """finds the commit that made a row slower; resumes an interrupted search"""
    table = default_table()
    if given.metric and not table.find(given.metric).is_compared:
        allowed = ", ".join(table.compared)
        raise Refused(f"--metric is {given.metric!r}; allowed: {allowed}")
    root = given.repository
    good, bad = (commits.revision_of(root, name) for name in (given.good, given.bad))
    line = commits.line_of(root, bad)
    place = next((p for p, c in enumerate(line) if c.revision == good), len(line))
    after = {commit.revision: commit for commit in line[place + 1 :]}
    if not after:
        raise Refused(f"{given.good} is not before {given.bad} in its history")
    flags = given.flags or _stored_flags(given)
    ends = Question(given.row, good, bad, flags, findings.LEAST_THRESHOLD)

    def ask(question: Question) -> Answer:
        answer = oracle.ask(question, root)
        _say(_words(answer))
        return answer

    found = steps.bisect(ends, list(after), given.metric, ask)
    if len(found) > 1:
        _say(f"one of these {len(found)}; they could not be distinguished:")
    print("\n".join(str(after[revision]) for revision in found))
    return GOOD if len(found) == 1 else BAD


def explain(given: argparse.Namespace) -> int:
    """lists differences inside two results: counters, operators, kernels, tensors"""
    are_files = [Path(name).is_file() for name in (given.before, given.after)]
    entries = [] if all(are_files) else index.load(Store(given.store), _leave_out)

    def results(name: str) -> list[Result]:
        """Loads a file, or a commit's results in the store, newest first."""
        if Path(name).is_file():
            return [result_file.load(Path(name))]
        revision = commits.revision_of(given.repository, name)
        files = [entry.file for entry in entries[::-1] if entry.revision == revision]
        if not files:
            raise NotAResult(f"{name} is not a file, and no result of it is stored")
        return [result_file.load(given.store / file) for file in files]

    sides = product(results(given.before), results(given.after))
    pairs = [
        (differences(MUST_AGREE, [b.context], [a.context]), b, a) for b, a in sides
    ]
    apart, before, after = min(pairs, key=lambda pair: len(pair[0]))
    if apart and not any(are_files):
        listed = "; ".join(map(str, apart))
        raise Refused(f"no machine has measured both: they differ in {listed}")
    found = explained(before, after)
    for case, lines in found.items():
        print("\n  ".join([case, *lines]))
    if not found:
        print("no counters, operators, kernels or tensors differ")
    return GOOD


def page(given: argparse.Namespace) -> int:
    """writes an HTML page with a plot of each row, its intervals and changes"""
    history = History(given)
    parts = [pages.part(*each, history.line) for each in history.changes()]
    file = given.file or given.store.with_suffix(".html")
    write_files({file: pages.html(parts, commits.address_of(given.repository))})
    print(file)
    return GOOD


def export(given: argparse.Namespace) -> int:
    """writes the last measured series, or its newest point, for another program"""
    history = History(given)
    if not history.series:
        raise NotAResult(f"{given.store} has no result of a commit on {given.branch}")
    write_files(exports.FORMS[given.form](history.series[-1], given.path))
    return GOOD
