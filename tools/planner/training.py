# SPDX-License-Identifier: MIT
"""Predicts the time of training, at a share of a peak or at measured rates."""

import argparse
from collections.abc import Mapping
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Training:
    tokens: int
    mfu: float | None
    peak: float | None  # FLOP/s
    measured: Path | None
    rates: "tuple[Row, ...]" = ()

    def query(self) -> dict[str, Any]:
        found = {
            "tokens": self.tokens,
            "mfu": self.mfu,
            "peak_flops_per_second": self.peak,
            "measured": self.measured and str(self.measured),
        }
        return {key: value for key, value in found.items() if value is not None}

    def _rate(self, batch: int, seq: int, step: str) -> "Row | None":
        """The row of this shape, or else the row with the most tokens, since larger
        products run at a higher rate."""
        rows = [row for row in self.rates if row.name.startswith(f"{step}/batch:")]

        def fit(row: "Row") -> tuple[bool, int]:
            shape = row.numbers
            is_same = (shape["batch"], shape["seq"]) == (batch, seq)
            return is_same, shape["batch"] * shape["seq"]

        return max(rows, key=fit, default=None)

    def of(self, row: Json, query: Json) -> dict[str, Any]:
        """Predicts the training time for a row of the plan."""
        batch, seq = query["batch"], query["seq"]
        found: dict[str, Any] = {
            "steps": whole(self.tokens / (batch * seq)),
            "seconds": None,
        }
        if self.mfu and self.peak:
            rate = self.mfu * self.peak
            basis = f"{text.percent(self.mfu)} of {text.rate(self.peak, 'FLOP/s')}"
        else:
            step = "/".join((_EXPERIMENT, row["model"], row["precision"], row["mode"]))
            timed = self._rate(batch, seq, step)
            if timed is None:
                return found | {"basis": f"no row {step}"}
            rate, basis = timed[_RATE], timed.name
        found |= {"seconds": found["steps"] * row["flops"] / rate, "basis": basis}
        share = {"mfu": rate / self.peak} if self.peak else {}
        return found | {_RATE: rate, **share}


def _rates(path: Path) -> "tuple[Row, ...]":
    from reports.results.rows import load  # imports scipy, which takes a second

    rows = tuple(
        row
        for row in load(path).of(_EXPERIMENT)
        if row.numbers.keys() == {"batch", "seq"} and (row.get(_RATE) or 0) > 0
    )
    if not rows:
        raise NotAResult(f"{path}: it has no timed row of {_EXPERIMENT}")
    return rows


def training(
    parser: argparse.ArgumentParser, given: argparse.Namespace
) -> Training | None:
    """Reads the flags, and exits with the parser's error if they conflict."""
    mfu, measured, peak = given.mfu, given.measured, given.peak_tflops
    if mfu and measured:
        parser.error(f"--mfu is {mfu:g}; allowed: only without --measured")
    if mfu and not peak:
        parser.error(f"--mfu is {mfu:g}; allowed: only with --peak_tflops")
    if not mfu and not measured:
        for flag, value in (("peak_tflops", peak), ("tokens", given.tokens)):
            if value:
                allowed = "only with --mfu or --measured"
                parser.error(f"--{flag} is {value:.13g}; allowed: {allowed}")
        return None
    try:
        rates = _rates(measured) if measured else ()
    except NotAResult as error:
        parser.error(f"argument --measured: {error}")
    in_flops = 1e12 * peak if peak else None
    return Training(given.tokens or _TOKENS, mfu, in_flops, measured, rates)
