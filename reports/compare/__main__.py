# SPDX-License-Identifier: MIT
"""Says whether a run is slower than another one, and how sure that is.

Two files: one process per side, so that time alone is never a regression. More
files, whose processes took turns: a verdict from an interval. Several files per
side with --base and --new. Exit status: 0 good; 1 a row regressed, is lost or
failed; 2 wrong usage, a file that is no result, or nothing to compare.
"""

import argparse
import json
import re
import sys
from pathlib import Path

from reports.compare import as_json, markdown, text
from reports.compare.comparison import Comparison, Options, compare
from reports.compare.environment import NotComparable
from reports.compare.exact import METRICS
from reports.rows import NotAResult, load

NOT_COMPARABLE = 2


def _percent(low: float, high: float):  # type: ignore[no-untyped-def]
    def parse(value: str) -> float:
        try:
            number = float(value)
        except ValueError:
            number = low - 1
        if not low < number < high:
            raise argparse.ArgumentTypeError(
                f"it is {value!r}; allowed: a percentage between {low:g} and {high:g}"
            )
        return number / 100

    return parse


def _pattern(value: str) -> str:
    try:
        re.compile(value)
    except re.error as error:
        raise argparse.ArgumentTypeError(
            f"it is {value!r}; allowed: a regular expression ({error})"
        ) from error
    return value


def _metrics(value: str) -> frozenset[str]:
    known = [metric.name for metric in METRICS]
    for name in value.split(","):
        if name not in known:
            raise argparse.ArgumentTypeError(
                f"it names {name!r}; allowed: {', '.join(known)}"
            )
    return frozenset(value.split(","))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="tools/compare", description=__doc__)
    add = parser.add_argument
    add("files", nargs="*", type=Path, metavar="FILE", help="BASE.json NEW.json...")
    add("--base", nargs="+", type=Path, default=[], help="the processes of one side")
    add("--new", nargs="+", type=Path, default=[], help="those of the other side")
    add(
        "--threshold",
        type=_percent(0, 100),
        default=0.02,
        metavar="PERCENT",
        help="the least change that matters (default: 2)",
    )
    add(
        "--confidence",
        type=_percent(50, 100),
        default=0.95,
        metavar="PERCENT",
        help="that no interval of the table is wrong (default: 95)",
    )
    add(
        "--filter",
        type=_pattern,
        default="",
        metavar="REGEX",
        help="only rows whose name it is found in",
    )
    add(
        "--accept",
        type=_metrics,
        default=frozenset(),
        metavar="METRIC,...",
        help="exact metrics that may change, e.g. flops,peak_bytes",
    )
    add(
        "--allow-different-environment",
        action="store_true",
        help="compare although device, driver, versions or threads differ",
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
) -> tuple[list[Path], list[Path]]:
    base, new = given.base, given.new
    if base or new:
        if given.files or not (base and new):
            parser.error("--base and --new go together, and without other files")
        return base, new
    if len(given.files) < 2:
        parser.error(f"it takes BASE.json and NEW.json, not {len(given.files)} files")
    return given.files[:1], given.files[1:]


def _comparison(base: list[Path], new: list[Path], options: Options) -> Comparison:
    return compare([load(one) for one in base], [load(one) for one in new], options)


def main(arguments: list[str]) -> int:
    parser = _parser()
    given = parser.parse_args(arguments)
    base, new = _sides(parser, given)
    options = Options(
        threshold=given.threshold,
        confidence=given.confidence,
        accepted=given.accept,
        pattern=given.filter,
        allow_different_environment=given.allow_different_environment,
    )
    try:
        comparison = _comparison(base, new, options)
    except (NotAResult, NotComparable) as error:
        print(f"tools/compare: {error}", file=sys.stderr)
        return NOT_COMPARABLE
    if given.json:
        print(json.dumps(as_json.document(comparison), indent=1))
    else:
        print((markdown if given.markdown else text).render(comparison))
    return comparison.exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
