# SPDX-License-Identifier: MIT
"""The claims of specs, judged on handmade rows, and their tables."""

from typing import Any

from golden import check_golden
from reports.answers.claims import sentence
from reports.answers.tables import across_table, phases_table, rows_table
from reports.experiments.spec import (
    Axis,
    Column,
    Extreme,
    Growth,
    Onset,
    Ratios,
    Settles,
    Spec,
    Spread,
    Values,
    Versus,
)
from reports.results.rows import Row
from results import entry, parsed

KIND = Axis("kind", "plain")


def case(kind: str, n: int, us: float, half_width: float = 0.01, **more: float) -> Any:
    words = f"kind={kind}"
    return entry(f"made/{kind}/n:{n}", us, words, half_width=half_width, **more)


def rows(*entries: Any) -> list[Row]:
    return parsed(*entries).rows


SLOW = case("plain", 1, 100, peak_bytes=2048, x_error=0.1, loss_ratio=1)
FAST = case("fused", 1, 50, peak_bytes=1024, x_error=0.3, loss_ratio=1.5)
GROWN = [
    case(kind, n, 3.0 * n**power, saved_bytes=n * 8)
    for kind, power in (("plain", 2), ("fused", 1))
    for n in (1, 2, 4, 8)
]


CLAIMS: list[tuple[Any, list[Any]]] = [
    (Versus(KIND, also=("x_error",)), [SLOW, FAST]),
    (Versus(KIND), [SLOW, case("fused", 1, 99, half_width=0.5)]),
    (Versus(KIND), [FAST]),
    (Extreme("x_error"), [SLOW, FAST]),
    (Extreme("x_error"), [SLOW, FAST, case("other", 1, 70, x_error=0.3)]),
    (Extreme("p50_us", least=True, also=("x_error",)), [SLOW, FAST]),
    (Extreme("p50_us"), [SLOW, case("fused", 1, 101, half_width=0.5)]),
    (Spread(Column("x_error")), [SLOW, FAST]),
    (Values(("x_error",), {"kind": "fused"}), [SLOW, FAST]),
    (Growth("n", ("p50_us", "saved_bytes")), GROWN),
    (Growth("n", ("p50_us",)), [case("plain", n, n, half_width=2) for n in (1, 2)]),
    (Growth("n", ("p50_us",)), [case("plain", n, n or 5) for n in (0, 1, 2, 4)]),
    (
        Onset("overflowed", along="n"),
        [case("plain", n, 1, overflowed=n // 4) for n in (1, 2, 4)],
    ),
    (
        Settles("loss_ratio", along="n", near=0.05),
        [case("plain", n, 1, loss_ratio=1 + 1 / n) for n in (1, 10, 100)],
    ),
    (Settles("loss_ratio", along="n", near=0.05), [case("plain", 1, 1, loss_ratio=2)]),
    (Ratios(KIND, "fused"), GROWN),
]


def test_what_claims_say() -> None:
    check_golden(
        "claims.txt",
        {
            f"{number}: {type(claim).__name__}": sentence(rows(*entries), [claim])
            for number, (claim, entries) in enumerate(CLAIMS)
        },
    )


def test_tables_of_rows() -> None:
    """Differing values have a column; a rate has the interval of the time next to it;
    phases are means, deviations and ends in ms."""

    def of(name: str, *us: float) -> dict[str, float]:
        names = ("mean", "stddev", "min", "max")
        return {f"{name}{n}_us": v for n, v in zip(names, us, strict=True)}

    spec = Spec(columns=("x_error", "*_ratio", "missing"), axis=KIND)
    rates = Spec(columns=("flops_per_second", "mean_us"))
    fast = case("fused", 1, 50, flops_per_second=2e9, mean_us=51, cv=0.1, samples=9)
    parts = of("", 9e3, 90, 8e3, 9.5e3) | of("forward_", 3e3, 30, 2e3, 4e3)
    parts |= of("communication_", 9e2, 9, 8e2, 1e3) | {"communication_share": 0.1}
    step = case("plain", 1, 9000, tokens_per_second=512, loss=2.5, **parts)
    phases = phases_table(rows(step, FAST))
    assert phases is not None and phases_table(rows(SLOW)) is None
    found = {
        "two rows": rows_table(rows(SLOW, FAST), spec, is_timed=True),
        "a rate": rows_table(rows(fast), rates, is_timed=True),
        "a parameter across": across_table(rows(*GROWN), "n", "saved_bytes"),
        "phases": phases,
    }
    check_golden("tables.txt", {name: found[name].markdown() for name in found})
