# SPDX-License-Identifier: MIT
"""The command line of tools/ab: its own flags, and those of the program."""

import argparse
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from reports.compare.ab_record import MOST_PAIRS
from reports.compare.argument_types import number, percentage
from tools.ab_run.errors import Usage

_USAGE = """\
tools/ab BASE NEW [flags] [flags of the program]
       tools/ab --same REVISION [flags] [flags of the program]
       tools/ab --binaries A B [flags] [flags of the program]
       tools/ab --project DIR BASE NEW [flags] [flags of the program]"""
_DESCRIPTION = """\
Builds two revisions and measures them in pairs of fresh processes, which are alive at
the same time and take turns of 50 ms, until every row is decided. --same measures one
revision against itself and writes the machine's noise floor. Everything else goes to
the program, for example --threads. The same command again continues what was
interrupted.
Sources and builds of the revisions stay in build/ab/trees, a project's in
build/ab/projects, for the next time; they can be deleted.
Exit status: 0 good, 1 slower or failed, 2 not comparable or wrong usage, 3 no build."""


@dataclass
class Arguments:
    revisions: list[str]  # base and new, or none
    flags: list[str]  # of the program, except for the filter
    max_pairs: int
    max_minutes: float
    same: str | None = None
    binaries: list[Path] = field(default_factory=list)  # base and new, or none
    project: Path | None = None  # experiments in another repository
    target: str | None = None  # its program
    prefix: Path | None = None  # of trainbench
    threshold: float = 0.02  # as a fraction
    confidence: float = 0.95  # as a fraction
    noise: Path | None = None
    noise_out: Path | None = None
    allow_different_environment: bool = False
    out: Path | None = None
    json: Path | None = None
    benchmark_filter: str | None = None


# Program flags that tools/ab sets itself, or with which the program measures nothing.
_RESERVED = set(
    """
    benchmark_out benchmark_out_format processes resume rounds samples_out shuffle
    benchmark_list_tests list version
    """.split()
)


def _name(token: str) -> str:
    """The name of a flag; "" for another token."""
    return token.lstrip("-").partition("=")[0] if token.startswith("-") else ""


def _split(
    tokens: Sequence[str], own: Mapping[str, int]
) -> tuple[list[str], list[str], list[str]]:
    """Returns flags of tools/ab, revisions, and program flags. `own` maps each flag of
    tools/ab to its number of values."""
    ours: list[str] = []
    revisions: list[str] = []
    program: list[str] = []
    rest = list(tokens)
    value_may_follow = False  # as in `--device cpu`
    while rest:
        token = rest.pop(0)
        if _name(token) in own:
            values = 0 if "=" in token else own[_name(token)]
            flag, given, rest = f"--{token.lstrip('-')}", rest[:values], rest[values:]
            # A filter may begin with a dash.
            ours += [f"{flag}={given[0]}"] if len(given) == 1 else [flag, *given]
            value_may_follow = False
        elif token.startswith("-") or value_may_follow or len(revisions) == 2:
            program.append(token)
            value_may_follow = token.startswith("-") and "=" not in token
        else:
            revisions.append(token)
    return ours, revisions, program


def sets_sampling(tokens: Sequence[str]) -> bool:
    """Whether these program flags set how long, or how often, a case is called."""
    return not {"benchmark_min_time", "samples"}.isdisjoint(map(_name, tokens))


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise Usage(message)


_PAIRS, _MINUTES = number(1, MOST_PAIRS, whole=True), number(1e-9, 1e9)


def _parser() -> _Parser:
    parser = _Parser(
        "tools/ab",
        usage=_USAGE,
        description=_DESCRIPTION,
        allow_abbrev=False,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--same", metavar="REVISION", help="measure it against itself")
    add("--binaries", metavar=("A", "B"), nargs=2, type=Path)
    add(
        "--project",
        type=Path,
        metavar="DIR",
        help="a CMake project of experiments in another repository, the one with these "
        "revisions (tools/cmake/README.md)",
    )
    add("--target", help="the project's program (the name of its folder)")
    add(
        "--prefix",
        type=Path,
        metavar="DIR",
        help="where trainbench is installed for it (build/release)",
    )
    add("--benchmark_filter", metavar="REGEX", help="the rows (all)")
    smallest = "smallest relevant change in percent (2)"
    add("--threshold", type=percentage(0, 100), help=smallest)
    add("--confidence", type=percentage(50, 100), help="percent (95)")
    add("--max_pairs", type=_PAIRS, help="limit for undecided rows (40)")
    add("--max_minutes", type=_MINUTES, help="time limit (60; --same: no limit)")
    of_same = "with --same: their number (20)"
    add("--pairs", dest="max_pairs", metavar="PAIRS", type=_PAIRS, help=of_same)
    add("--noise", type=Path, metavar="FILE", help="a noise floor, from --same")
    add("--noise_out", type=Path, metavar="FILE", help="with --same: the file to write")
    add(
        "--allow-different-environment",
        action="store_true",
        help="compare although versions, device or threads differ",
    )
    add("--out", type=Path, metavar="DIR", help="folder for all measurements")
    add("--json", type=Path, metavar="FILE", help="a copy of the result")
    return parser


def _check_sides(given: Arguments, names: Collection[str]) -> None:
    """Checks that the flags with these names go together. Errors: Usage."""
    modes = [bool(given.revisions), given.same is not None, bool(given.binaries)]
    if sum(modes) != 1:
        raise Usage("give two revisions, or --same, or --binaries; --help says more")
    if len(given.revisions) == 1:
        (only,) = given.revisions
        raise Usage(f"only one revision, '{only}'; give two, or --same={only}")
    if given.project is None and (given.target or given.prefix):
        raise Usage("--target and --prefix belong to --project")
    if given.project is not None and given.binaries:
        raise Usage("--project builds revisions; --binaries are built")
    if given.same is None and not {"pairs", "noise_out"}.isdisjoint(names):
        raise Usage("--pairs and --noise_out belong to --same")
    if given.same is not None and not {"max_pairs", "noise"}.isdisjoint(names):
        raise Usage("--max_pairs and --noise do not belong to --same; see --pairs")


def parse(tokens: Sequence[str]) -> Arguments:
    """Errors: Usage; SystemExit from argparse, which has then printed the reason."""
    parser = _parser()
    own = {
        option.lstrip("-"): action.nargs if isinstance(action.nargs, int) else 1
        for action in parser._actions
        for option in action.option_strings
    }
    mine, revisions, theirs = _split(tokens, own)
    names = [_name(token) for token in mine]
    limits = (20, math.inf) if "same" in names else (40, 60.0)
    given = Arguments(revisions, theirs, *limits)
    parser.parse_args(["--help" if t == "--h" else t for t in mine], given)
    _check_sides(given, names)
    for name in map(_name, theirs):
        if name in _RESERVED:
            raise Usage(f"--{name} is not for a run of pairs; see --out")
    return given
