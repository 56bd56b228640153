# SPDX-License-Identifier: MIT
"""Reports whether a run is slower than another one, with a confidence interval.

Two files: one per side, so that time alone is never a regression, unless --noise has
the machine's A/A spread. More files from processes that took turns: an
interval's verdict; --base and --new name several files per side, and the shards of a
run count as one process. A directory of tools/ab: its verdict again. Exit status: 0
good; 1 a row regressed, is lost, failed or does other work; 2 wrong usage, a file that
is not a result, or nothing to compare.
"""

import argparse
import json
from dataclasses import replace
from pathlib import Path

from reports.compare import as_json, markdown, text
from reports.compare.ab_decisions import comparison_of
from reports.compare.ab_record import load as load_ab
from reports.compare.argument_types import pattern, percentage
from reports.compare.comparison import Comparison, Options, compare
from reports.compare.noise import load_noise
from reports.results.parts import runs
from reports.results.result_file import load
from reports.results.rows import Result
from reports.results.text import plural


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tools/compare", description=__doc__)
    add = parser.add_argument
    add(
        "files",
        nargs="*",
        type=Path,
        metavar="FILE",
        help="BASE.json NEW.json..., or the directory of a run of tools/ab",
    )
    add("--base", nargs="+", type=Path, default=[], help="the processes of one side")
    add("--new", nargs="+", type=Path, default=[], help="processes of the other side")
    add(
        "--threshold",
        type=percentage(0, 100),
        metavar="PERCENT",
        help="the smallest change that matters (default: 2)",
    )
    add(
        "--confidence",
        type=percentage(50, 100),
        metavar="PERCENT",
        help="probability that every interval of the table is right (default: 95)",
    )
    add(
        "--filter",
        type=pattern,
        default="",
        metavar="REGEX",
        help="only rows with a name that matches",
    )
    add(
        "--accept",
        type=lambda names: frozenset(names.split(",")),
        default=frozenset(),
        metavar="METRIC,...",
        help="exact metrics that may change, e.g. flops,peak_bytes",
    )
    add(
        "--noise",
        type=Path,
        metavar="FILE",
        help="file from tools/ab --same: the machine's A/A spread of each row",
    )
    add(
        "--allow-different-environment",
        action="store_true",
        help="compare even if device, driver, versions or threads differ",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print JSON")
    form.add_argument(
        "--markdown",
        action="store_true",
        help="print Markdown, for a comment on a pull request",
    )
    return parser


def _sides(
    parser: argparse.ArgumentParser, given: argparse.Namespace
) -> list[list[Path]]:
    """Returns the files of each side; a process counts once."""
    if not given.base and len(given.files) < 2:
        parser.error(
            f"it takes BASE.json and NEW.json, not {plural(len(given.files), 'file')}"
        )
    sides = [given.base or given.files[:1], given.new or given.files[1:]]
    for side in sides:
        for i, path in enumerate(side):
            if path.resolve() in (other.resolve() for other in side[:i]):
                parser.error(f"{path} is given twice on one side; allowed: once")
    return sides


def _processes(side: list[Path]) -> list[Result]:
    """Returns the runs of one side; the parts of a run count as one process.

    Errors: NotAResult.
    """
    return list(runs({path: load(path) for path in side}).values())


def _comparison(
    parser: argparse.ArgumentParser, given: argparse.Namespace
) -> Comparison:
    """Makes the comparison. Errors: NotAResult, NotComparable."""
    options = Options(
        threshold=given.threshold or Options.threshold,
        confidence=given.confidence or Options.confidence,
        accepted=given.accept,
        pattern=given.filter,
        allow_different_environment=given.allow_different_environment,
    )
    if bool(given.base) != bool(given.new) or (given.base and given.files):
        parser.error("--base and --new go together, and without other files")
    if len(given.files) == 1 and given.files[0].is_dir():
        if given.threshold or given.confidence or given.noise:
            parser.error(
                "--threshold, --confidence and --noise of a directory are those of "
                "its run"
            )
        directory = given.files[0]
        return comparison_of(load_ab(directory), directory, options)
    sides = _sides(parser, given)
    if given.noise:
        options = replace(options, noise=load_noise(given.noise))
    base, new = map(_processes, sides)
    return compare(base, new, options)


def main(arguments: list[str]) -> int:
    parser = _parser()
    given = parser.parse_intermixed_args(arguments)
    comparison = _comparison(parser, given)
    if given.json:
        report = json.dumps(as_json.document(comparison), indent=1)
    else:
        report = (markdown if given.markdown else text).render(comparison)
    print(report)
    return comparison.exit_code
