# SPDX-License-Identifier: MIT
"""tools/bench with a stub of the program: files, their names, exit status, signals."""

import os
import re
import shutil
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from processes import run, wait_until
from stub_checkout import Checkout, commit, git, write_script

NAME = r"\d{8}T\d{6}Z-%s-%s(-\d+)?"


def test_a_result_and_its_samples_are_named_by_time_revision_and_device(
    checkout: Checkout,
) -> None:
    done = checkout.run("bench", "--suite=smoke", "--benchmark_filter=a b")
    result, samples = checkout.results()
    assert re.fullmatch(NAME % ("unknown", "cpu") + r"\.json", result)
    assert samples == result.replace(".json", ".samples.jsonl")
    assert done.stdout.splitlines() == [
        f"--aoti={checkout.root}/build/aoti",
        f"--benchmark_out={checkout.root}/results/{result}",
        f"--samples_out={checkout.root}/results/{samples}",
        "--suite=smoke",
        "--benchmark_filter=a b",
    ]
    for name in (result, samples):
        assert f"wrote {checkout.root}/results/{name}\n" in done.stderr


@pytest.mark.parametrize("what", ["build", "build/.release.lock", "results"])
def test_a_checkout_that_cannot_be_written(checkout: Checkout, what: str) -> None:
    path = checkout.root / what
    if what == "build/.release.lock":
        path.mkdir()
    else:
        shutil.rmtree(path, ignore_errors=True)
        path.write_text("")
    done = checkout.run("bench", status=3)
    assert done.stdout == ""
    *building, said = done.stderr.splitlines()
    assert building in ([], ["configuring release ...", "building release ..."])
    assert re.fullmatch(f"tools/bench: cannot write (to )?{path}", said)


@pytest.mark.parametrize("flags", ["", "--device=cpu", "--device cpu"])
def test_the_device_in_the_name(checkout: Checkout, flags: str) -> None:
    checkout.run("bench", *flags.split(), STUB_GPU_STATUS="0")
    device = "cpu" if flags else "cuda"
    assert re.fullmatch(NAME % ("unknown", device) + r"\.json", checkout.results()[0])


def test_the_revision_in_the_name(checkout: Checkout) -> None:
    commit(checkout)
    revision = git(checkout.root, "rev-parse", "--short", "HEAD")
    checkout.run("bench")
    assert re.match(NAME % (revision, "cpu"), checkout.results()[0])
    shutil.rmtree(checkout.root / "results")
    (checkout.root / "new.cc").write_text("")
    checkout.run("bench")
    assert re.match(NAME % (f"{revision}-dirty", "cpu"), checkout.results()[0])


def test_two_calls_at_once_do_not_share_a_result(checkout: Checkout) -> None:
    with ThreadPoolExecutor(max_workers=2) as pool:
        list(pool.map(lambda _: checkout.run("bench"), range(2)))
    assert len(checkout.results()) == 4


def test_the_result_is_summed_up_at_the_end(checkout: Checkout) -> None:
    python = checkout.root / ".venv/bin/python"
    write_script(python, '#!/bin/sh\necho "summary: $*"\nexit 3\n')
    # The program's status, not the summary's.
    done = checkout.run("bench", status=1, STUB_STATUS="1")
    result = checkout.root / "results" / checkout.results()[0]
    command = "reports.command tools/answers reports.answers.main"
    assert f"summary: -m {command} --summary {result}\n" in done.stderr
    # Nothing was measured, the program failed, or the run was killed.
    for status in (2, 7, 143):
        done = checkout.run("bench", status=status, STUB_STATUS=str(status))
        assert "summary" not in done.stderr
    assert "summary" not in checkout.run("bench", "--benchmark_list_tests").stderr


EXPORT = """#!/bin/sh
[ "$2" != --batch=1 ] || sleep 0.3
printf '%s\n' "$#" "$@" >>"$STUB_LOG"
[ "$2" = --batch=1 ] || exit "${STUB_EXPORT:-1}"
"""
MAKES = "; make it with: tools/export_aoti --model=tiny --batch=%d --out=build/aoti"
UNAVAILABLE = (
    f"a: no package{MAKES % 1}\nb: none{MAKES % 1}\nc: none{MAKES % 2}\nd: none"
)


def test_what_a_command_makes_is_made_before_the_run(checkout: Checkout) -> None:
    write_script(checkout.root / "tools/export_aoti", EXPORT)
    # The memory suffices for one at a time, so the slow one does not end last.
    write_script(checkout.stubs / "awk", "#!/bin/sh\necho 1\n")
    # A package that was killed is tried again.
    checkout.run("bench", STUB_UNAVAILABLE=UNAVAILABLE, STUB_EXPORT="137")
    (checkout.stubs / "log").unlink()
    done = checkout.run("bench", STUB_UNAVAILABLE=UNAVAILABLE)
    packages = checkout.root / "build/aoti"
    assert f"--aoti={packages}" in done.stdout.splitlines()
    log = checkout.log()
    assert log == [
        *("3", "--model=tiny", "--batch=1", f"--out={packages}"),
        *("3", "--model=tiny", "--batch=2", f"--out={packages}"),
    ]
    assert done.stderr.count("compiling ahead of time") == 2
    assert done.stderr.count("and its row will be skipped") == 1
    # A package that failed is not tried again.
    checkout.run("bench", STUB_UNAVAILABLE=UNAVAILABLE)
    again = checkout.log()[len(log) :]
    assert [line for line in again if "batch" in line] == ["--batch=1"]


def test_an_interrupt_while_a_package_is_made_ends_it(checkout: Checkout) -> None:
    write_script(checkout.root / "tools/export_aoti", EXPORT)
    reasons = {"STUB_UNAVAILABLE": f"c: none{MAKES % 2}", "STUB_EXPORT": "130"}
    done = checkout.run("bench", status=130, **reasons)
    assert done.stdout == ""


@pytest.mark.parametrize("flags", [[], ["--benchmark_out=older.json"]])
def test_wrong_usage_claims_no_result(checkout: Checkout, flags: list[str]) -> None:
    older = checkout.stubs / "older.json"
    older.touch()
    given = {"STUB_STATUS": "2", "STUB_SILENT": "1"}
    done = checkout.run("bench", "--nonsense", *flags, status=2, **given)
    assert checkout.results() == []
    assert "wrote" not in done.stderr and older.exists()


def test_an_interrupted_first_case_leaves_no_empty_file(checkout: Checkout) -> None:
    given = {"STUB_STATUS": "130", "STUB_WRITES": ""}
    assert "wrote" not in checkout.run("bench", status=130, **given).stderr
    assert checkout.results() == []


@pytest.mark.parametrize(
    ("flags", "added"),
    [
        (
            "--resume=a.json",
            "--aoti={aoti} --benchmark_out=a.json --samples_out=a.samples.jsonl ",
        ),
        ("--benchmark_out=a.json", "--aoti={aoti} --samples_out=a.samples.jsonl "),
        ("--benchmark_out a.json", "--aoti={aoti} --samples_out=a.samples.jsonl "),
        ("--benchmark_out=a.json --samples_out=b.jsonl --aoti=own", ""),
        ("--resume a.json --samples_out b.jsonl --aoti=own", "--benchmark_out=a.json "),
        ("--benchmark_out=a.json --samples_out=", "--aoti={aoti} "),
        ("--help", ""),
        ("--list", ""),
        ("--list_unavailable=true", "--aoti={aoti} "),
        ("--benchmark_list_tests=true", ""),
    ],
)
def test_files_and_packages_that_the_user_names_or_nobody_needs(
    checkout: Checkout, flags: str, added: str
) -> None:
    (checkout.stubs / "a.json").write_text("{}")
    write_script(checkout.root / "tools/export_aoti", EXPORT)
    done = checkout.run("bench", *flags.split(), STUB_UNAVAILABLE=UNAVAILABLE)
    called = " ".join(done.stdout.splitlines())
    assert called == added.format(aoti=f"{checkout.root}/build/aoti") + flags
    assert checkout.results() == []
    assert ("wrote" in done.stderr) == ("a.json" in flags)
    makes = "--aoti=" in added and "list" not in flags
    assert ("compiling" in done.stderr) == makes


def test_a_failed_build_is_status_3_and_runs_nothing(checkout: Checkout) -> None:
    done = checkout.run("bench", status=3, STUB_BUILD_STATUS="1")
    assert done.stdout == ""
    assert "the build of release failed" in done.stderr
    assert checkout.results() == []


def test_another_libtorch_is_configured_afresh(checkout: Checkout) -> None:
    log, stamp = checkout.stubs / "cmake.log", checkout.root / ".venv/.trainbench-stamp"
    stamp.parent.mkdir()
    stamp.write_text("cpu 1\n")
    build = ["--build --preset release --parallel 1 --target trainbench"]
    configured = ["--preset release --fresh"]
    for expected in (configured + build, build):
        log.write_text("")
        checkout.run("bench", STUB_CMAKE_LOG=str(log), CMAKE_BUILD_PARALLEL_LEVEL="1")
        assert log.read_text().splitlines() == expected
    later = time.time() + 100  # later than build.ninja of the calls above
    os.utime(stamp, (later, later))
    log.write_text("")
    checkout.run("bench", STUB_CMAKE_LOG=str(log), CMAKE_BUILD_PARALLEL_LEVEL="1")
    assert log.read_text().splitlines() == configured + build


# Sends a signal before the script knows the program.
EARLY = r"""trap '[[ $BASH_COMMAND != program=\$! ]] || {
  until [[ -e $STUB_WAIT ]]; do sleep 0.05; done; kill -TERM $$; }' DEBUG
"""


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT, 0])
def test_a_signal_ends_the_program_and_then_the_script(
    checkout: Checkout, sent: int
) -> None:
    started, early = checkout.stubs / "started", checkout.stubs / "early"
    early.write_text("" if sent else EARLY)
    given = {"STUB_WAIT": str(started), "BASH_ENV": str(early)}
    with checkout.started("bench", **given) as process:
        assert wait_until(lambda: started.exists() or process.poll() is not None)
        process.send_signal(sent)
        out, err = process.communicate(timeout=600)
    assert process.returncode == 42
    assert out.endswith("stopped\n")
    assert "wrote " in err


def test_a_terminal_may_stop_what_others_print_on_it(checkout: Checkout) -> None:
    bench = f"stty tostop && '{checkout.root}/tools/bench' --list"
    command = ["script", "--quiet", "--return", "--command", bench, "/dev/null"]
    assert run(*command, env=checkout.environment()).stdout.endswith("--list\n")
