# SPDX-License-Identifier: MIT
"""The profiles of a result file, and short names of kernels."""

from typing import Any

import pytest

from reports.results.kernel_names import bare, shortened
from reports.results.profiles import KernelTimes, Times
from reports.results.rows import NotAResult
from results import FILL, PRODUCT, parsed

STATISTICS = {"mean": 3, "median": 2, "min": 1, "max": 9, "stddev": 0.5}
PROFILE: dict[str, Any] = {
    "case": "breakdown/step/all",
    "passes": 6,
    "of": "kernels",
    "kernels": [
        {"phase": "forward", "name": FILL, "family": "fill", "instances": 2}
        | {"time_us": {"total": 6, "totals": [3, 4, 5, 6, 7, 11], **STATISTICS}}
    ],
    "ranges": [
        {"phase": "forward", "range": "ffn", "instances": 1, "host_us": STATISTICS}
    ],
    "copies": [
        {"phase": "forward", "component": "ffn", "direction": "fill", "count": 2}
        | {"name": "aten::zero_", "bytes": 8, "time_us": 4}
    ],
}


def test_a_profile_is_read_with_its_times() -> None:
    (profile,) = parsed(profiles=[PROFILE]).profiles
    case, of = profile.case, profile.of
    assert (case, profile.passes, of) == ("breakdown/step/all", 6, "kernels")
    (kernel,), (span,), (copies,) = profile.kernels, profile.ranges, profile.copies
    assert (kernel.name, kernel.family, kernel.instances) == (FILL, "fill", 2)
    assert kernel.total_us == 6
    assert kernel.time_us == KernelTimes(3, 2, 1, 9, 0.5, 6, [3, 4, 5, 6, 7, 11])
    assert (span.range, span.device_us) == ("ffn", None)
    assert span.host_us == Times(3, 2, 1, 9, 0.5)
    assert (copies.bytes, copies.time_us, copies.bytes_per_second) == (8, 4, None)


def with_time(**time: Any) -> dict[str, Any]:
    (kernel,) = PROFILE["kernels"]
    return {"kernels": [kernel | {"time_us": {"total": 6, **STATISTICS, **time}}]}


def test_what_a_null_gpu_and_a_file_of_before_lack() -> None:
    untimed = dict(PROFILE["kernels"][0])
    del untimed["time_us"]
    (profile,) = parsed(profiles=[PROFILE | {"kernels": [untimed]}]).profiles
    assert profile.kernels[0].time_us is None
    assert profile.kernels[0].total_us == 0
    (profile,) = parsed(profiles=[PROFILE | with_time()]).profiles
    assert profile.kernels[0].time_us and profile.kernels[0].time_us.totals is None
    assert parsed().profiles == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"passes": "6"}, r"profiles\[0\].passes of .* is '6'; allowed: a whole"),
        ({"of": 1}, "of of .* is 1; allowed: a text"),
        ({"kernels": [{}]}, "lacks phase"),
        ({"kernels": [PROFILE["kernels"][0] | {"time_us": {}}]}, "mean"),
        (with_time(totals=[6.0]), "totals in a profile are 1; .* its 6 passes"),
        (with_time(totals=[1, 2, 3, 4, 5, "6"]), "totals.* is '6'; allowed: a number"),
        ({"ranges": 7}, "ranges of .* is 7; allowed: a list"),
    ],
)
def test_a_damaged_profile_is_refused(change: dict[str, Any], message: str) -> None:
    with pytest.raises(NotAResult, match=message):
        parsed(profiles=[PROFILE | change])


def test_names_are_shortened_to_what_tells_them_apart() -> None:
    assert bare(FILL) == "vectorized_elementwise_kernel"
    assert shortened(FILL) == "vectorized_elementwise_kernel of FillFunctor, float"
    assert shortened(PRODUCT) == PRODUCT
    assert bare("void (anonymous namespace)::softmax<float>(float*)") == "softmax"
    copy = "Memcpy HtoD (Pageable -> Device)"
    assert shortened(copy) == copy
