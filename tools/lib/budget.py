# SPDX-License-Identifier: MIT
"""Checks that the lines of each room, and the counts of awkward phrases, do not grow.

Prints them with their limits and, for rooms, the goals: tools/lib/budget.tsv. The exit
status is 1 if one is above its limit.
"""

import argparse
import csv
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from reports.history.commits import git
from reports.results import text
from reports.results.files import write_files
from reports.results.refused import Refused

ROOT = Path(__file__).resolve().parents[2]
LIMITS = "tools/lib/budget.tsv"
CPP = (".cc", ".h", ".cu", ".cuh", ".inc")
CODE = (*CPP, ".py")
RATIO = "tests: percent of product lines"
# Phrases that CONTRIBUTING.md's rule on prose excludes, and similar ones.
PHRASES = {
    "whose": r"\bwhose\b",
    "that of": r"\b(that|those) of\b",
    "of which": r"\bof which\b",
    "beside": r"\bbeside\b",
    "told": r"\bt(ell|ells|old)\b",
    "opening of": r"(?m)^\s*(?-i:Of)\b",  # a fragment
}
_COMMENT = {
    **dict.fromkeys(CPP, re.compile(r"//(.*)")),
    ".py": re.compile(r'"""(.*?)"""|#([^\n]*)', re.DOTALL),
    ".md": re.compile(r"(.+)"),
}


@dataclass(frozen=True)
class Limit:
    what: str  # folders and files, separated by spaces; RATIO; or "prose: whose"
    most: int
    goal: str  # "" for prose


def read_limits(path: Path) -> list[Limit]:
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    return [Limit(row["what"], int(row["most"]), row["goal"]) for row in rows]


def written(limits: Sequence[Limit]) -> str:
    rows = [("what", "most", "goal")]
    rows += [(limit.what, str(limit.most), limit.goal) for limit in limits]
    return "".join("\t".join(row) + "\n" for row in rows)


def tracked(root: Path) -> list[str]:
    """Lists the files that git does not ignore. Errors: Refused."""
    options = ("-z", "--cached", "--others", "--exclude-standard")
    names = git(root, "ls-files", *options).split("\0")
    return sorted({name for name in names if (root / name).exists()})


def _is_in(name: str, folders: str) -> bool:
    return any(f"{name}/".startswith(f"{folder}/") for folder in folders.split())


def prose_of(name: str, content: str) -> str:
    """The comments of a source file, or a whole document."""
    comment = _COMMENT.get(Path(name).suffix)
    if comment is None:
        return ""
    groups = (part for match in comment.finditer(content) for part in match.groups())
    return "\n".join(part for part in groups if part)


def measured(root: Path, limits: Sequence[Limit]) -> list[tuple[Limit, int]]:
    """Counts each limit. Errors: SystemExit, if a file is not in exactly one room."""
    contents = {
        name: (root / name).read_text(encoding="utf-8")
        for name in tracked(root)
        if Path(name).suffix in _COMMENT and not name.startswith("reports/reference/")
    }
    code = {
        name: content.count("\n")
        for name, content in contents.items()
        if Path(name).suffix in CODE
    }
    rooms = [limit.what for limit in limits if ":" not in limit.what]
    for name in code:
        found = [folders for folders in rooms if _is_in(name, folders)]
        if len(found) != 1:
            raise SystemExit(
                f"{name} is in {len(found)} rooms of {LIMITS}; allowed: one"
            )
    prose = "\n".join(prose_of(*item) for item in contents.items())

    def count(what: str) -> int:
        if what == RATIO:
            tests = count("tests")
            return round(100 * tests / max(1, sum(code.values()) - tests))
        if what.startswith("prose: "):
            phrase = PHRASES[what.removeprefix("prose: ")]
            return len(re.findall(phrase, prose, re.IGNORECASE))
        return sum(lines for name, lines in code.items() if _is_in(name, what))

    return [(limit, count(limit.what)) for limit in limits]


def table(counts: Sequence[tuple[Limit, int]]) -> str:
    rows = [
        [limit.what, str(now), str(limit.most), limit.goal or "-"]
        for limit, now in counts
    ]
    return text.table(["", "now", "limit", "goal"], rows)


def main(
    flags: Sequence[str], root: Path = ROOT, say: Callable[[str], None] = print
) -> int:
    parser = argparse.ArgumentParser(
        prog="tools/budget", description=__doc__, allow_abbrev=False
    )
    parser.add_argument("--lower", action="store_true", help="lower the limits")
    lower = parser.parse_args(flags).lower
    try:
        counts = measured(root, read_limits(root / LIMITS))
    except Refused as error:  # not a git checkout
        print(f"tools/budget: skipped: {error}", file=sys.stderr)
        return 0
    say(table(counts))
    if lower:
        limits = [replace(limit, most=min(now, limit.most)) for limit, now in counts]
        write_files({root / LIMITS: written(limits)})
    above = [(limit, now) for limit, now in counts if now > limit.most]
    for limit, now in above:
        wrong = f"{limit.what}: {now}; allowed: {limit.most}"
        print(f"tools/budget: {wrong}", file=sys.stderr)
    return int(bool(above))
