# SPDX-License-Identifier: MIT
"""tools/nsys with stubs: what it says where Nsight Systems is missing."""

import shutil

from stub_checkout import RECORDER, TOOLS, Checkout, write_script


def test_without_nsys_one_line_says_what_is_missing(checkout: Checkout) -> None:
    shutil.copy(TOOLS / "nsys", checkout.root / "tools")
    write_script(checkout.root / ".venv/bin/python", RECORDER)
    done = checkout.run("nsys", "--into=a")
    assert done.returncode == 3
    assert done.stderr.splitlines() == [
        "tools/nsys: Nsight Systems is missing: no nsys in PATH; NVIDIA's package "
        "nsight-systems-cli has it"
    ]
    assert checkout.run("nsys", "--help").returncode == 0
    assert checkout.log() == [
        "python -m reports.command tools/nsys tools.nsight.__main__ --help"
    ]
    write_script(checkout.stubs / "nsys", RECORDER)
    assert checkout.run("nsys", "--into=a", "--seq=8").returncode == 0
    assert (
        checkout.log()[-1]
        == "python -m reports.command tools/nsys tools.nsight.__main__ --into=a --seq=8"
    )
