# SPDX-License-Identifier: MIT
"""Bounds and headroom, from handmade rows on a device with round rates."""

from advised import PEAKS, Entry, part, product, whole
from golden import check_golden
from reports.advice.advice import advice
from results import parsed

FFN = part(
    *("forward", "ffn", 1000),
    **{"flops": 6e8, "matmul_share": 0.9, "calls": 10},
    **{"compulsory_bytes": 4e6, "pass_bytes": 1e6},
)
NORM = part(
    *("forward", "norm", 500),
    **{"calls": 5, "compulsory_bytes": 2e6, "pass_bytes": 2e6},
)
DISPATCH = part("forward", "dispatch", 80)
KNOWN = {"compulsory_bytes": 1e3, "pass_bytes": 0}
SMALL = part("forward", "residual", 100, calls=60, **KNOWN)


def printed(*rows: Entry, device: str = "cpu") -> str:
    context = {"device_kind": device, "processes": "3"}
    given = advice(parsed(*rows, context=context))
    assert given.headroom is not None
    lines = [" | ".join(line) for line in given.headroom.lines]
    return "\n".join([given.headroom.title, *lines, *given.lacks])


def test_bounds_and_headroom() -> None:
    back = part("backward", "norm", 900, compulsory_bytes=3e6, pass_bytes=3e6)
    cached = part("forward", "rope", 50, compulsory_bytes=2e6, pass_bytes=2e6)
    flash = part("forward", "fused_attention", 100, flops=1e7, **KNOWN)
    old = [
        {key: value for key, value in row.items() if not key.endswith("_bytes")}
        for row in (FFN, NORM)
    ]
    inference = [
        row
        | {"name": row["name"].replace("train_step", "inference")}
        | {"parameters": row["parameters"] | {"mode": "inference"}}
        for row in (FFN, whole(1000))
    ]
    found = {
        # 6e8 FLOPs take 600 us; 4e6 bytes take 200 us at the rate of an update. Of the
        # ffn's 400 us, 300 are products below the peak's rate, 10 are launches. Of all,
        # 750 + 395 us are in passes, 300 us in products and 80 us in gaps.
        "a step": printed(*PEAKS, DISPATCH, FFN, NORM, back, whole(2480)),
        # Three processes measured the peak: 6e8 FLOPs take at least 300 us.
        "the best process": printed(
            *PEAKS, PEAKS[0], product("fp32", 2e12), FFN, whole(1000)
        ),
        "launches": printed(*PEAKS, SMALL, whole(2000)),
        # A kernel's time does not include its launch.
        "launches of a GPU": printed(*PEAKS, SMALL, whole(2000), device="cuda"),
        "products of fused attention": printed(*PEAKS, flash, whole(2000)),
        "a cache may beat the memory": printed(*PEAKS, cached, whole(50)),
        "without bytes": printed(*PEAKS, *old, whole(1500)),
        "without a peak of the precision": printed(*PEAKS[1:], FFN, whole(1000)),
        "the last train step": printed(*PEAKS, FFN, whole(1000), *inference),
    }
    check_golden("headroom.txt", found)
