# SPDX-License-Identifier: MIT
"""tools/plan --parallel: the tables of cs336.md for one job."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from reports.compare.argument_types import number
from reports.results import text
from tools.planner import arguments
from tools.planner.formulas import Group, Symbol, groups, shown, symbols, whole

TABLES = Path(__file__).parent / "cs336.md"
_LINKS = "h100_nvlink:318:30,a100_pcie:20:50"
_SHARED = {"--help", "--json", "--parallel", "--tokens", "--tensor_ranks"}
_NOTES = """\
GB is 10^9 bytes and GiB 2^30: a device of "80 GB" mostly has about 80 GiB, 7 % more
than 80 10^9 bytes.
A pass is compute-bound while what it sends takes no longer than what it computes, the
two at the same time.
Bounds count matmuls and bytes, no cost of a call: a real job stops gaining earlier.
A pipeline stage must keep gathered weights over the micro-batches of a step, or each of
these has to be that large.
"""


def _parser(known: Sequence[Symbol]) -> argparse.ArgumentParser:
    parser = arguments.parser(
        "tools/plan --parallel says what parallel training sends, how many devices "
        "stay compute-bound, and the memory and batch of a sharded model, each with "
        "its formula. The defaults come from the CS336 systems assignment (TPU v5p)."
    )
    add = parser.add_argument
    add("--parallel", action="store_true", help=argparse.SUPPRESS)
    add("--json", action="store_true", help="print JSON, with raw numbers")
    for symbol in known:
        is_whole = symbol.default.isdigit()
        add(
            f"--{symbol.flag}",
            type=number(symbol.least, symbol.most, is_whole),
            default=symbol.default,
            metavar=symbol.name,
            help=f"{symbol.what} (default: {symbol.default})",
        )
    add(
        "--links",
        default=_LINKS,
        metavar=arguments.LINKS,
        help="links for which to print the best bucket, with their bandwidth in 10^9 "
        f"bytes/s and the cost of a call (default: {_LINKS})",
    )
    return parser


def _text(found: Sequence[Group]) -> str:
    cells = [
        [
            row["what"],
            "none" if row["value"] is None else shown(row["value"], row["unit"]),
            "; ".join(filter(None, (row["formula"], row.get("reason")))),
        ]
        for group in found
        for row in group.rows
    ]
    lines = iter(text.columns(cells, left=(0, 1, 2)))
    tables = [
        "\n  ".join([group.title, group.constants, *(next(lines) for _ in group.rows)])
        for group in found
    ]
    return "\n\n".join([*tables, _NOTES])


def _json(query: dict[str, Any], found: Sequence[Group]) -> str:
    rows = [
        {"group": group.name, **row, "what": row["what"].removeprefix("- ")}
        for group in found
        for row in group.rows
    ]
    return json.dumps({"query": query, "rows": rows}, indent=2) + "\n"


def flags() -> set[str]:
    """The flags that only this mode has."""
    known = _parser(symbols(TABLES.read_text("utf-8")))._option_string_actions
    return {flag for flag in known if flag.startswith("--")} - _SHARED


def main(tokens: Sequence[str]) -> int:
    document = TABLES.read_text("utf-8")
    known = symbols(document)
    parser = _parser(known)
    given = vars(arguments.parse(parser, tokens))
    try:
        found_links = arguments.links(given["links"])
    except argparse.ArgumentTypeError as error:
        parser.error(f"argument --links: {error}")
    names = {symbol.name: given[symbol.flag] * symbol.factor for symbol in known}
    of_links = {
        link.name: {"w": link.gb_per_s * 1e9, "o": link.us / 1e6}
        for link in found_links
    }
    found = list(groups(document, names, of_links))
    query = {symbol.flag: whole(given[symbol.flag]) for symbol in known}
    query["links"] = given["links"]
    print(_json(query, found) if given["json"] else _text(found), end="")
    return 0
