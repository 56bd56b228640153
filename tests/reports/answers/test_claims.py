# SPDX-License-Identifier: MIT
"""The claims of specs, judged on handmade rows."""

from typing import Any

from golden import check_golden
from reports.answers.claims import sentence
from reports.experiments.spec import (
    Axis,
    Column,
    Extreme,
    Growth,
    Onset,
    Settles,
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
    (Spread(Column("x_error")), [SLOW, case("fused", 1, 70, x_error=0.2)]),
    (Values(("p50_us",)), [case("plain", n, n) for n in range(1, 11)]),
    (Onset("overflowed", along="n"), [case("plain", 1, 1, overflowed=0)]),
    (Spread("p50_us"), [SLOW, case("fused", 1, 101, half_width=0.5)]),
    (Spread("time over plain", versus=KIND), [SLOW, FAST]),
    # Apart at 95 %, but no longer as the extremes of ten pairs.
    *(
        (
            Spread("p50_us", {"kind": "plain"}),
            [case("plain", n, us, half_width=0.05) for n, us in enumerate(times)],
        )
        for times in ((100, 109), (100, 102, 104, 106, 109))
    ),
    (
        Extreme("x_error", each="kind"),
        [case(kind, n, 1, x_error=n) for kind in ("plain", "fused") for n in (1, 2)],
    ),
    (
        Spread("x_error", needs="loss_ratio"),
        [SLOW, FAST, case("other", 1, 70, x_error=0.9)],
    ),
    (
        Versus(KIND),
        [
            entry(f"made/{model}/{kind}", 1, f"model={model} kind={kind}", flops=flops)
            for flops, model in enumerate(("small", "middle", "large"))
            for kind in ("plain", "fused")
        ],
    ),
]


def test_what_claims_say() -> None:
    printed = {
        f"{number}: {type(claim).__name__}": sentence(rows(*entries), [claim])
        for number, (claim, entries) in enumerate(CLAIMS)
    }
    apart = parsed(*GROWN, turns=[]).rows
    printed["Growth of rows without turns"] = sentence(
        apart, [Growth("n", ("p50_us",))]
    )
    check_golden("claims.txt", printed)
