# SPDX-License-Identifier: MIT
"""tools/reference with stubs for its commands."""

import gzip
import shutil

import pytest

from processes import Finished
from stub_checkout import TOOLS, Checkout, commit, write_script

# The result stands for the table by tools/answers; $STUB_TABLE contains it.
TRAINBENCH = """#!/bin/bash
if [[ $* == *--list_unavailable ]]; then
  echo "${STUB_UNAVAILABLE:-}"
  exit
fi
echo "trainbench $*" >>"$STUB_LOG"
for argument in "$@"; do
  [[ $argument != --benchmark_out=* ]] || cat "$STUB_TABLE" >"${argument#*=}"
  [[ $argument != --samples_out=* ]] || echo '{"name": "a"}' >"${argument#*=}"
  if [[ $argument == --memory_trace=* ]]; then
    mkdir -p "${argument#*=}" && touch "${argument#*=}"/{step.csv,step.pickle}
  fi
done
echo "what a process prints"
exit "${STUB_STATUS:-0}"
"""
LOGGED = '#!/bin/sh\necho "$(basename "$0") $*" >>"$STUB_LOG"\n'


@pytest.fixture
def checkout(checkout: Checkout) -> Checkout:
    root = checkout.root
    shutil.copy(TOOLS / "reference", root / "tools")
    write_script(root / "tools/setup", LOGGED)
    write_script(root / "tools/report", LOGGED)
    write_script(root / "tools/answers", f'{LOGGED}[ "$1" = --readme ] || cat "$2"\n')
    write_script(root / "build/release/benchmarks/trainbench", TRAINBENCH)
    (checkout.stubs / "table").write_text("1\n")
    commit(checkout)
    return checkout


def reference(
    checkout: Checkout, *flags: str, status: int = 0, **extra: str
) -> Finished:
    table = str(checkout.stubs / "table")
    return checkout.run("reference", *flags, status=status, STUB_TABLE=table, **extra)


def test_the_run_its_table_its_pages_and_the_readme(checkout: Checkout) -> None:
    reference(checkout, "my-box")
    log = checkout.log()
    assert log[0] == "setup --if-needed"
    # Uses relative paths.
    scratch = "build/reference/my-box"
    assert log[-5] == (
        "trainbench --suite=full --processes=6 --rounds=2"
        f" --benchmark_out={scratch}/full.json"
        f" --samples_out={scratch}/full.samples.jsonl"
    )
    memory = "trainbench --suite=full --rounds=1 --benchmark_filter=^memory/"
    assert log[-4].startswith(memory)
    assert log[-4].endswith(f" --memory_trace={scratch}/full.memory_trace")
    assert log[-3:] == [
        "answers --table reports/reference/my-box/full.json",
        "report reports/reference/my-box/full.json",
        "answers --readme README.md reports/reference/my-box/full.json",
    ]
    directory = checkout.root / "reports/reference/my-box"
    assert (directory / "full.json").read_text() == "1\n"
    assert (directory / "full.txt").read_text() == "1\n"
    with gzip.open(directory / "full.samples.jsonl.gz", "rt") as log_of_samples:
        assert log_of_samples.read() == '{"name": "a"}\n'
    traces = (directory / "full.memory_trace").iterdir()
    assert [path.name for path in traces] == ["step.csv"]
    # The tree is dirty now, and --no-run measures nothing.
    reference(checkout, "--no-run", "my-box")
    commands = [line.split()[0] for line in checkout.log()[len(log) :]]
    assert commands == ["setup", "answers", "report", "answers"]


def test_packages_that_rows_lack_are_made_before_the_run(checkout: Checkout) -> None:
    write_script(checkout.root / "tools/export_aoti", LOGGED)
    commit(checkout)
    lacks = "a: none; make it with: tools/export_aoti --model=a --out=build/aoti"
    reference(checkout, "my-box", STUB_UNAVAILABLE=lacks)
    assert checkout.log()[-6] == "export_aoti --model=a --out=build/aoti"


def test_a_run_takes_the_place_of_the_one_before(checkout: Checkout) -> None:
    directory = checkout.root / "reports/reference/my-box"
    (directory / "full.figures").mkdir(parents=True)
    for name in ("full.json", "full.txt", "full.figures/a.svg", "steps.md"):
        (directory / name).write_text("2")
    commit(checkout)
    reference(checkout, "--no-run", "my-box")
    assert checkout.log()[-2] == "report reports/reference/my-box/full.json"
    reference(checkout, "--allow-dirty", "my-box")
    names = {path.name for path in directory.iterdir()}
    assert {"steps.md", "full.json"} < names
    assert "full.figures" not in names


def test_a_run_that_fails_leaves_the_old_reference(checkout: Checkout) -> None:
    reference(checkout, "my-box")
    commit(checkout)
    (checkout.stubs / "table").write_text("2\n")
    done = reference(checkout, "my-box", status=1, STUB_STATUS="1")
    assert "the run ended with status 1; it is in build/reference/my-box" in done.stderr
    committed = checkout.root / "reports/reference/my-box/full.txt"
    assert committed.read_text() == "1\n"
    failed = checkout.root / "build/reference/my-box/full.json"
    assert failed.read_text() == "2\n"
    write_script(checkout.root / "tools/answers", "#!/bin/sh\nexit 2\n")
    reference(checkout, "--no-run", "my-box", status=2)
    assert committed.read_text() == "1\n"


def test_uncommitted_changes(checkout: Checkout) -> None:
    (checkout.root / "new.cc").write_text("")
    done = reference(checkout, "my-box", status=2)
    assert "uncommitted changes" in done.stderr and "new.cc" in done.stderr
    assert not (checkout.stubs / "log").exists()
    reference(checkout, "my-box", "--allow-dirty")


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ([], "which machine?"),
        (["../up"], "'../up' is no name of a machine: letters, digits, dashes"),
        (["-my"], "unknown flag '-my'"),
        (["a", "b"], "one machine, not 'a' and 'b'"),
        (["--no-run", "my-box"], "reports/reference/my-box holds no run"),
    ],
)
def test_wrong_usage(checkout: Checkout, flags: list[str], message: str) -> None:
    done = reference(checkout, *flags, status=2)
    assert done.stderr.startswith(f"tools/reference: {message}")
    assert not (checkout.stubs / "log").exists()
