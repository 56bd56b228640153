# SPDX-License-Identifier: MIT
"""The stubs generated for functions without a handwritten implementation."""

from pathlib import Path

import pytest

from tools.null_gpu import make_stubs


def test_a_function_is_not_listed_and_written_out() -> None:
    with pytest.raises(SystemExit, match="cudaA"):
        make_stubs.stubs(set(), {"cudaA"}, {"cudaA"})


def test_the_list_is_sorted() -> None:
    lines = (Path(make_stubs.__file__).parent / "succeeds.txt").read_text().split("\n")
    names = [line for line in lines if line and not line.startswith("#")]
    assert names == sorted(set(names))


def test_a_call_has_the_number_of_its_newest_version(tmp_path: Path) -> None:
    header = tmp_path / "cbid.h"
    header.write_text(
        "CUPTI_RUNTIME_TRACE_CBID_cudaA_v3020 = 5,\n"
        "CUPTI_RUNTIME_TRACE_CBID_cudaA_v12000 = 9,\n"
        "CUPTI_RUNTIME_TRACE_CBID_cudaA_ptsz_v7000 = 7,\n"
    )
    numbers = make_stubs.runtime_numbers(header)
    assert numbers["cudaA"] == 9
    text = make_stubs.cbids(numbers, {"cudaA", "cudaB"})
    assert '{"cudaA", 9},' in text and "cudaB" not in text


def test_functions_that_are_looked_up_are_needed_too(tmp_path: Path) -> None:
    header = tmp_path / "driver_api.h"
    header.write_text("  _(cuDeviceGet, 12000)  \\\n  _(nvmlInit_v2)  \\\n")
    assert make_stubs.entry_points(header) == {"cuDeviceGet"}
