# SPDX-License-Identifier: MIT
"""What the claims of specs say of rows made by hand, and their tables."""

from pathlib import Path
from typing import Any

import pytest

from reports.answers import markdown
from reports.answers.claims import sentence
from reports.answers.tables import across_table, phases_table, rows_table
from reports.experiments import known
from reports.experiments.spec import (
    Axis,
    Column,
    Extreme,
    Growth,
    Onset,
    Settles,
    Spec,
    Spread,
    Values,
    Versus,
)
from reports.results.rows import Row, parse
from results import ROOT, document, entry

GOLDEN = Path(__file__).with_name("golden.md")
KIND = Axis("kind", "plain")


def case(kind: str, n: int, us: float, half_width: float = 0.01, **more: float) -> Any:
    words = f"kind={kind}"
    return entry(f"made/{kind}/n:{n}", us, words, half_width=half_width, **more)


def rows(*entries: Any) -> list[Row]:
    return parse(document(*entries)).rows


SLOW = case("plain", 1, 100, peak_bytes=2048, x_error=0.1, loss_ratio=1)
FAST = case("fused", 1, 50, peak_bytes=1024, x_error=0.3, loss_ratio=1.5)
GROWN = [case("plain", n, 3.0 * n * n, saved_bytes=n * 8) for n in (1, 2, 4, 8)]


@pytest.mark.parametrize(
    ("claim", "entries", "said"),
    [
        (
            Versus(KIND, also=("x_error",)),
            [SLOW, FAST],
            "In `n:1`, over plain: fused takes 0.5 (0.493 to 0.507) times the time, "
            "0.5 times the peak memory, x error 0.3.",
        ),
        (Versus(KIND), [FAST], ""),
        (
            Extreme("x_error"),
            [SLOW, FAST],
            "`fused` has the highest x error, 0.3.",
        ),
        (
            Extreme("p50_us", least=True, also=("x_error",)),
            [SLOW, FAST],
            "`fused` has the lowest time, 50 us ± 1 %, x error 0.3.",
        ),
        (
            Extreme("p50_us"),
            [SLOW, case("fused", 1, 101, half_width=0.5)],
            "Which has the highest time cannot be told from this run: `fused` has "
            "101 us ± 52 %, and 1 other may have more.",
        ),
        (
            Spread(Column("x_error")),
            [SLOW, FAST],
            "The x error is 0.1 (`plain`) to 0.3 (`fused`).",
        ),
        (
            Values(("x_error",), {"kind": "fused"}),
            [SLOW, FAST],
            "`fused` x error 0.3.",
        ),
        (
            Growth("n", ("p50_us", "saved_bytes")),
            GROWN,
            "Along n: `plain` time as T^2.00 (1.99 to 2.01), saved as T^1.00.",
        ),
        (
            Growth("n", ("p50_us",)),
            [case("plain", n, n, half_width=2) for n in (1, 2)],
            "Along n: `plain` the growth of time cannot be told from this run.",
        ),
        (
            Onset("overflowed", along="n"),
            [case("plain", n, 1, overflowed=n // 4) for n in (1, 2, 4)],
            "By n: `plain` overflowed at 4, not at 2.",
        ),
        (
            Settles("loss_ratio", along="n", near=0.05),
            [case("plain", n, 1, loss_ratio=1 + 1 / n) for n in (1, 10, 100)],
            "`plain`: from n 100 on it stays within 5 %.",
        ),
        (
            Settles("loss_ratio", along="n", near=0.05),
            [case("plain", 1, 1, loss_ratio=2)],
            "`plain`: 1 n are too few for 5 %.",
        ),
    ],
)
def test_a_claim_says(claim: Any, entries: list[Any], said: str) -> None:
    assert sentence(rows(*entries), [claim]) == said


def test_a_table_has_what_differs_as_columns() -> None:
    spec = Spec(columns=("x_error", "*_ratio", "missing"), axis=KIND)
    table = rows_table(rows(SLOW, FAST), spec, is_timed=True)
    headings = ["kind", "time", "/ plain", "x error", "loss ratio"]
    assert (table.title, table.headings) == ("n:1", headings)
    assert table.lines[1] == [
        *("fused", "50 us ± 1 %", "0.5 (0.493 to 0.507)", "0.3", "1.5")
    ]


def test_a_rate_has_the_interval_of_the_time_beside_it() -> None:
    spec = Spec(columns=("flops_per_second", "mean_us"))
    fast = case("fused", 1, 50, flops_per_second=2e9, mean_us=51, cv=0.1, samples=9)
    (line,) = rows_table(rows(fast), spec, is_timed=True).lines
    assert line[1:] == ["50 us ± 1 %", "2 GFLOP/s", "51 us ± 7.7 %"]


def test_a_parameter_goes_across_with_the_exponent_last() -> None:
    table = across_table(rows(*GROWN), "n", "saved_bytes")
    assert table.headings == ["case", "n 1", "n 2", "n 4", "n 8", "grows as n^"]
    assert table.lines[0][1:] == ["8 B", "16 B", "32 B", "64 B", "1.00"]


def test_phases_are_means_deviations_and_ends_in_ms() -> None:
    def of(name: str, *us: float) -> dict[str, float]:
        names = ("mean", "stddev", "min", "max")
        return {f"{name}{n}_us": v for n, v in zip(names, us, strict=True)}

    parts = of("", 9e3, 90, 8e3, 9.5e3) | of("forward_", 3e3, 30, 2e3, 4e3)
    step = case("plain", 1, 9000, tokens_per_second=512, loss=2.5, **parts)
    table = phases_table(rows(step, FAST))
    assert table is not None and len(table.lines) == 1
    assert table.headings == ["kind", "whole", "forward", "tokens/s", "loss reached"]
    assert table.lines[0][:3] == [*("plain", "9 ± 0.09 (8, 9.5)", "3 ± 0.03 (2, 4)")]
    assert phases_table(rows(SLOW)) is None


def test_every_spec_is_short_and_of_an_experiment() -> None:
    for name in known():
        assert (ROOT / "benchmarks" / f"{name}.cc").exists()
        source = (ROOT / "reports/experiments" / f"{name}.py").read_text()
        assert len(source[source.index("\n\n") :].splitlines()) <= 30, name


def test_the_printed_answers_are_the_golden_ones() -> None:
    words = "model=tiny precision={} mode=train_step"
    steps = [
        entry(
            f"precision/tiny/{name}/train_step/batch:4/seq:128",
            us,
            words.format(name),
            half_width=0.02,
            **{"batch": 4, "seq": 128, "peak_bytes": peak, "logits_error": error},
        )
        for name, us, peak, error in (
            ("fp32", 9e3, 4e6, 1e-7),
            ("bf16", 5e3, 2e6, 1e-3),
        )
    ]
    skipped = [{"name": "cuda_graph/a", "reason": "no GPU; buy one"}]
    made = markdown(parse(document(*steps, skipped=skipped)))
    assert made + "\n" == GOLDEN.read_text(encoding="utf-8")
