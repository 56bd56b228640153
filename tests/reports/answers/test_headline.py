# SPDX-License-Identifier: MIT
"""The sentences at the head of a page and at the end of a run."""

from collections.abc import Sequence
from typing import Any

from golden import check_golden
from reports.answers.headline import sentences
from results import entry, parsed


def made(rows: Sequence[dict[str, Any]], **others: Any) -> list[str]:
    return sentences(parsed(*rows, **others))


STEP = "model=tiny precision=fp32 mode=train_step"


def ranks(strategy: str, us: float, shape: str, **counters: float) -> Any:
    words = f"strategy={strategy} model=tiny precision=fp32"
    name = f"ddp/{strategy}/tiny/fp32/{shape}/batch:1/seq:8"
    return entry(name, us, words, half_width=0.0, batch=1, seq=8, **counters)


def test_a_sentence_needs_its_rows() -> None:
    parts = {"forward_us": 30, "backward_us": 60, "optimizer_us": 10}
    step = entry("model_size/tiny", 100, STEP, batch=4, seq=128, flops=1, **parts)
    untimed = step | {"real_time": 0}
    peak = {"peak_bytes": 1024, "predicted_peak_bytes": 1024}
    memory = entry("memory/a", 0, STEP, **peak)
    higher = memory | {name: 2 * size for name, size in peak.items()}
    higher["real_time"] = 1
    alone = [
        ranks("alone", 80, "ranks:1/as_one_of:2"),
        ranks("alone", 100, "ranks:1/as_one_of:4"),
    ]
    together = [
        ranks("side_by_side", 120, "ranks:2"),
        ranks("side_by_side", 150, "ranks:4"),
    ]
    exchanging = [
        ranks("flat", 170, "ranks:2", exposed_us=50),
        ranks("flat", 180, "ranks:4", exposed_us=20),
        ranks("reducer", 160, "ranks:4", exposed_us=10, alone_us=90),
    ]
    slower = [
        entry(f"precision/{name}", us, STEP.replace("fp32", name), half_width=0.02)
        for name, us in (("fp32", 100), ("bf16", 150))
    ]
    # The baseline's fastest product is not its first or last one.
    products = [
        entry(f"peak/matmul/{i}", 1, f"precision={name}", flops_per_second=rate)
        for i, (name, rate) in enumerate(
            (("fp32", 2e11), ("fp32", 3e11), ("fp32", 1e11), ("bf16", 1.5e11))
        )
    ]
    found = {
        "a precision that is slower": made(slower),
        "a precision with slower products": made([*products, *slower]),
        "nothing": made([]),
        "a step and its parts": made([step]),
        "its peak, although another is higher": made([step | peak, higher]),
        "ranks": made([*alone, *together, *exchanging]),
        "ranks, none of them side by side": made([*alone, *exchanging]),
        "ranks without a single one that has as many threads": made(
            [alone[0], *exchanging]
        ),
        "a null GPU": made([untimed, memory], context={"device_kind": "null_cuda"}),
    }
    check_golden("headline.txt", {name: "\n".join(found[name]) for name in found})
