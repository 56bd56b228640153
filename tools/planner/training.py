# SPDX-License-Identifier: MIT
"""Predicts the time of training, at a share of a peak or at measured rates."""

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reports.compare.argument_types import number
from reports.results import text
from reports.results.records import NotAResult
from tools.planner.formulas import whole

if TYPE_CHECKING:
    from reports.results.rows import Row

Json = Mapping[str, Any]
_EXPERIMENT, _RATE = "model_size", "flops_per_second"
_TOKENS = 2**20
RULES = (
    ("mfu", "without", ("measured",)),
    ("mfu", "with", ("peak_tflops",)),
    ("peak_tflops", "with", ("mfu", "measured")),
    ("tokens", "with", ("mfu", "measured")),
)


def add_flags(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "--mfu",
        type=number(1e-6, 1),
        metavar="SHARE",
        help="predict the time of training at this share of --peak_tflops",
    )
    add(
        "--measured",
        type=Path,
        metavar="RESULT.json",
        help="predict the time of training at the rates of model_size in a result",
    )
    add(
        "--tokens",
        type=number(1, 2**50, whole=True),
        help=f"of the whole training (default: {_TOKENS})",
    )
    add(
        "--peak_tflops",
        type=number(1e-6, 1e9),
        help="peak of the device in 10^12 FLOP/s, for --mfu; with --measured the share "
        "of it is printed, too",
    )


def query(given: argparse.Namespace) -> dict[str, Any]:
    found = {
        "tokens": given.tokens or _TOKENS,
        "mfu": given.mfu,
        "peak_flops_per_second": given.peak_tflops and 1e12 * given.peak_tflops,
        "measured": given.measured and str(given.measured),
    }
    return {key: value for key, value in found.items() if value is not None}


def rates(
    parser: argparse.ArgumentParser, given: argparse.Namespace
) -> "Sequence[Row]":
    """Reads --measured, and exits with the parser's error if it has no rates."""
    if given.measured is None:
        return ()
    # These import scipy, which takes a second.
    from reports.results.result_file import load
    from reports.results.rows import PREDICTED

    try:
        result = load(given.measured)
        if result.context.get("device_kind") == PREDICTED:
            raise NotAResult(f"{given.measured}: its times are predicted, not measured")
        found = [
            row
            for row in result.of(_EXPERIMENT)
            if row.numbers.keys() == {"batch", "seq"} and (row.get(_RATE) or 0) > 0
        ]
    except NotAResult as error:
        parser.error(f"argument --measured: {error}")
    fastest = max((row[_RATE] for row in found), default=0)
    if given.peak_tflops and fastest > 1e12 * given.peak_tflops:
        parser.error(
            f"--peak_tflops is {given.peak_tflops:.13g}; allowed: more than a measured "
            f"rate, {text.rate(fastest, 'FLOP/s')}"
        )
    if not found:
        lacks = f"{given.measured}: it has no timed row of {_EXPERIMENT}"
        parser.error(f"argument --measured: {lacks}")
    return found


def _timed(rates: "Sequence[Row]", step: str, batch: int, seq: int) -> "Row | None":
    """The row of this shape, or else the row with the most tokens, since larger
    products run at a higher rate."""

    def fit(row: "Row") -> tuple[bool, int]:
        shape = row.numbers
        is_same = (shape["batch"], shape["seq"]) == (batch, seq)
        return is_same, shape["batch"] * shape["seq"]

    rows = (row for row in rates if row.name.startswith(f"{step}/batch:"))
    return max(rows, key=fit, default=None)


def predicted(rates: "Sequence[Row]", row: Json, query: Json) -> dict[str, Any]:
    """Predicts the training time for a row of the plan, by `rates` unless the query
    has a share of a peak. Raises ValueError if the row does not train."""
    if row["mode"] != "train_step":
        allowed = "allowed with --mfu or --measured: train_step"
        raise ValueError(f"--mode is {row['mode']}; {allowed}")
    batch, seq = query["batch"], query["seq"]
    peak: float = query.get("peak_flops_per_second", 0)
    steps = whole(query["tokens"] / (batch * seq)) or 0
    found: dict[str, Any] = {"steps": steps, "seconds": None}
    if "mfu" in query:
        rate = query["mfu"] * peak
        basis = f"{text.percent(query['mfu'])} of {text.rate(peak, 'FLOP/s')}"
    else:
        step = "/".join((_EXPERIMENT, row["model"], row["precision"], row["mode"]))
        timed = _timed(rates, step, batch, seq)
        if timed is None:
            return found | {"basis": f"no row {step}"}
        # Recomputation, also in the timed step, runs at the same rate of the hardware.
        again = timed.get("recomputed_flops") or 0
        hardware = timed[_RATE] + 1e6 * again / timed.time_us
        rate = hardware * (row["flops"] / (row["flops"] + row["recomputed_flops"]))
        basis = timed.name
    found |= {"seconds": steps * row["flops"] / rate, "basis": basis, _RATE: rate}
    return found | ({"mfu": rate / peak} if peak else {})
