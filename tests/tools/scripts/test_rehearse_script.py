# SPDX-License-Identifier: MIT
"""tools/rehearse with stubs: what it builds, and what it says where it cannot."""

import shutil

import pytest

from stub_checkout import RECORDER, TOOLS, Checkout, write_script

PYTHON = "python -m reports.command tools/rehearse tools.rehearsal.__main__"


@pytest.fixture
def rehearse(checkout: Checkout) -> Checkout:
    shutil.copy(TOOLS / "rehearse", checkout.root / "tools")
    write_script(checkout.root / ".venv/bin/python", RECORDER + 'echo "$PYTHONPATH"\n')
    return checkout


def test_without_the_null_gpu_it_says_what_is_missing(rehearse: Checkout) -> None:
    done = rehearse.run("rehearse", "--gpu=h100")
    assert done.returncode == 3
    assert "the null GPU is built from CUDA's headers" in done.stderr


def test_help_builds_nothing(rehearse: Checkout) -> None:
    done = rehearse.run("rehearse", "--help")
    assert done.returncode == 0, done.stderr
    assert rehearse.log() == [f"{PYTHON} --help"]
    assert done.stdout == f"{rehearse.root}\n"
    assert not (rehearse.root / "build/release/build.ninja").exists()


def test_all_flags_go_to_the_rehearsal(rehearse: Checkout) -> None:
    ninja = rehearse.root / "build/release/build.ninja"
    ninja.write_text("build null_gpu: phony\n")
    done = rehearse.run("rehearse", "--gpu=h100", "--suite=smoke")
    assert done.returncode == 0, done.stderr
    assert rehearse.log() == [f"{PYTHON} --gpu=h100 --suite=smoke"]
