# SPDX-License-Identifier: MIT
"""tools/reference with stubs in place of what takes long, and the README's excerpt."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from reports.results.readme_excerpt import main, with_excerpt
from test_tools_scripts import CMAKE, Checkout, write_script

ROOT = Path(__file__).resolve().parents[3]
REFERENCE = ROOT / "reports/reference/xeon-2-cores"

OLD = """git_revision: 1111   suite: quick

case                 time   note
peak/copy/size:1     1 ms
...
model_size/tiny      2 ms
...
optimizer/fused      3 ms

5 cases: 5 measured, 0 skipped, 0 failed
"""
NEW = """git_revision: 2222   suite: quick
\x20
case                  time   note
optimizer/fused      30 ms
model_size/tiny      SKIPPED  does not fit
model_size/other      5 ms\x20\x20
peak/copy/size:1     10 ms   noisy

4 cases: 3 measured, 1 skipped, 0 failed
"""
FRESH = """git_revision: 2222   suite: quick

case                  time   note
peak/copy/size:1     10 ms   noisy
...
model_size/tiny      SKIPPED  does not fit
...
optimizer/fused      30 ms

4 cases: 3 measured, 1 skipped, 0 failed
"""


def document(excerpt: str) -> str:
    return f"# Title\n```\ntools/bench\n```\nprints\n\n```\n{excerpt}```\nand more\n"


# --- the excerpt --------------------------------------------------------------


def test_the_selection_is_kept_and_every_line_is_new() -> None:
    assert with_excerpt(document(OLD), NEW) == document(FRESH)
    # Nothing is left to do a second time.
    assert with_excerpt(document(FRESH), NEW) == document(FRESH)


def test_the_first_of_several_repetitions() -> None:
    repeated = NEW.replace("4 cases:", "optimizer/fused  31 ms\n4 cases in 5 runs:")
    fresh = with_excerpt(document(OLD), repeated)
    assert "30 ms" in fresh and "31 ms" not in fresh
    assert "\n4 cases in 5 runs: 3 measured" in fresh


def test_a_case_that_is_gone_is_named() -> None:
    with pytest.raises(ValueError, match=r"lacks: \['model_size/tiny'\]"):
        with_excerpt(document(OLD), NEW.replace("model_size/tiny ", "model_size/t "))


@pytest.mark.parametrize(
    ("text", "table", "message"),
    [
        ("# no excerpt\n", NEW, "excerpts of a table: 0"),
        (document(OLD) + document(OLD), NEW, "excerpts of a table: 2"),
        (document(OLD), "", "lacks 'git_revision:'"),
        (document(OLD), NEW.replace("case ", "name "), "lacks 'case time'"),
        (document(OLD), NEW.partition("\n4 cases")[0], "lacks 'cases:'"),
    ],
)
def test_what_is_no_document_or_no_table(text: str, table: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        with_excerpt(text, table)


def test_the_readme_is_as_the_reference_run_makes_it() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    table = (REFERENCE / "quick.txt").read_text(encoding="utf-8")
    assert with_excerpt(readme, table) == readme


def test_a_document_that_cannot_be_refreshed_stays(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table, text = tmp_path / "quick.txt", tmp_path / "README.md"
    table.write_text(NEW)
    text.write_text("nothing")
    assert main([str(table), str(text)]) == 2
    assert text.read_text() == "nothing"
    assert capsys.readouterr().err.count("\n") == 1
    text.write_text(document(OLD))
    assert main([str(table), str(text)]) == 0
    assert text.read_text() == document(FRESH)
    assert main([str(tmp_path / "none"), str(text)]) == 2


# --- the script ---------------------------------------------------------------

# The table is the program's output; $STUB_TABLE holds it.
TRAINBENCH = """#!/bin/bash
echo "trainbench $*" >>"$STUB_LOG"
for argument in "$@"; do
  [[ $argument != --benchmark_out=* ]] || echo '{"run": "new"}' >"${argument#*=}"
  if [[ $argument == --memory_trace=* ]]; then
    mkdir -p "${argument#*=}" && touch "${argument#*=}"/{step.csv,step.pickle}
  fi
done
cat "$STUB_TABLE"
exit "${STUB_STATUS:-0}"
"""
LOGGED = '#!/bin/sh\necho "$(basename "$0") $*" >>"$STUB_LOG"\n'
QUOTES = "reports/reference/my-box/quick.txt\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    root, stubs = tmp_path / "check out", tmp_path / "stubs"
    for name in ("tools/reference", "tools/lib/common.sh", "reports/results/readme_excerpt.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, root / name)
    (root / "CMakePresets.json").write_text("{}")
    (root / ".gitignore").write_text("/build/\n/.venv/\n")
    (root / "README.md").write_text(document(OLD) + QUOTES)
    for name in ("setup", "answers", "report"):
        write_script(root / "tools" / name, LOGGED)
    python = f'#!/bin/sh\nexec "{sys.executable}" "$@"\n'
    write_script(root / ".venv/bin/python", python)
    write_script(root / "build/release/benchmarks/trainbench", TRAINBENCH)
    write_script(stubs / "cmake", CMAKE)
    (stubs / "table").write_text(NEW)
    git(root, "init", "--quiet")
    commit(root)
    return Checkout(root, stubs)


def git(root: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.com")
    subprocess.run(["git", *identity, *arguments], cwd=root, check=True)


def commit(root: Path) -> None:
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message=a")


def reference(
    checkout: Checkout, *flags: str, **extra: str
) -> subprocess.CompletedProcess[str]:
    table = str(checkout.stubs / "table")
    return checkout.run("reference", *flags, STUB_TABLE=table, **extra)


def stored(checkout: Checkout) -> list[str]:
    directory = checkout.root / "reports/reference/my-box"
    return sorted(path.name for path in directory.glob("*"))


def test_the_run_its_table_its_pages_and_the_readme(checkout: Checkout) -> None:
    done = reference(checkout, "my-box")
    assert done.returncode == 0, done.stderr
    log = checkout.log()
    assert log[0] == "setup --if-needed"
    assert log[1] == "cmake --preset release"
    assert log[2].startswith("cmake --build --preset release")
    # By relative paths, and without samples.
    scratch = "build/reference/my-box"
    steps = "^memory/tiny/fp32/(inference|train_step)/batch:4/seq:128$"
    assert log[3:] == [
        f"trainbench --suite=quick --benchmark_out={scratch}/quick.json",
        f"trainbench --benchmark_filter={steps} "
        f"--memory_trace={scratch}/quick.memory_trace",
        "answers reports/reference/my-box/quick.json --into README.md",
        "report reports/reference/my-box/quick.json",
    ]
    assert stored(checkout) == ["quick.json", "quick.memory_trace", "quick.txt"]
    traces = checkout.root / "reports/reference/my-box/quick.memory_trace"
    assert [path.name for path in traces.iterdir()] == ["step.csv"]
    directory = checkout.root / "reports/reference/my-box"
    assert (directory / "quick.json").read_text() == '{"run": "new"}\n'
    assert (directory / "quick.txt").read_text() == NEW
    assert (checkout.root / "README.md").read_text() == document(FRESH) + QUOTES
    assert not (checkout.root / "build/reference/my-box").exists()


def test_a_run_that_fails_leaves_the_old_reference(checkout: Checkout) -> None:
    assert reference(checkout, "my-box").returncode == 0
    commit(checkout.root)
    (checkout.stubs / "table").write_text("git_revision: 3333\n")
    done = reference(checkout, "my-box", STUB_STATUS="1")
    assert done.returncode == 1
    assert "the run ended with status 1; it is in build/reference/my-box" in done.stderr
    directory = checkout.root / "reports/reference/my-box"
    assert (directory / "quick.txt").read_text() == NEW
    assert checkout.log()[-1].startswith("trainbench ")
    scratch = checkout.root / "build/reference/my-box/quick.txt"
    assert scratch.read_text() == "git_revision: 3333\n"


def test_a_case_of_the_excerpt_that_is_gone(checkout: Checkout) -> None:
    (checkout.stubs / "table").write_text(NEW.replace("model_size/tiny", "x"))
    done = reference(checkout, "my-box")
    assert done.returncode == 2
    assert "model_size/tiny" in done.stderr
    assert (checkout.root / "README.md").read_text() == document(OLD) + QUOTES


def test_a_machine_that_the_readme_does_not_quote(checkout: Checkout) -> None:
    done = reference(checkout, "other")
    assert done.returncode == 0, done.stderr
    assert "README.md does not quote other" in done.stderr
    assert (checkout.root / "README.md").read_text() == document(OLD) + QUOTES
    assert checkout.log()[-1] == "report reports/reference/other/quick.json"
    assert not [line for line in checkout.log() if line.startswith("answers")]


def test_the_pages_alone(checkout: Checkout) -> None:
    assert reference(checkout, "--no-run", "my-box").returncode == 2
    assert reference(checkout, "my-box").returncode == 0
    before = checkout.log()
    # The tree is dirty now, and no number is measured.
    done = reference(checkout, "--no-run", "my-box")
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in checkout.log()[len(before) :]] == [
        "setup",
        "answers",
        "report",
    ]


def test_uncommitted_changes(checkout: Checkout) -> None:
    (checkout.root / "new.cc").write_text("")
    done = reference(checkout, "my-box")
    assert done.returncode == 2
    assert "uncommitted changes" in done.stderr and "new.cc" in done.stderr
    assert not (checkout.stubs / "log").exists()
    assert reference(checkout, "my-box", "--allow-dirty").returncode == 0
    assert stored(checkout) == ["quick.json", "quick.memory_trace", "quick.txt"]


def test_a_directory_without_git(checkout: Checkout) -> None:
    shutil.rmtree(checkout.root / ".git")
    done = reference(checkout, "my-box")
    assert done.returncode == 2
    assert "no git checkout" in done.stderr
    assert reference(checkout, "my-box", "--allow-dirty").returncode == 0


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ([], "which machine?"),
        ([""], "'' is no name of a machine: letters, digits, dashes"),
        (["../up"], "'../up' is no name of a machine"),
        (["my_box"], "'my_box' is no name of a machine"),
        (["my box"], "'my box' is no name of a machine"),
        (["-my"], "unknown flag '-my'"),
        (["--suite=paper", "my"], "unknown flag '--suite=paper'"),
        (["a", "b"], "one machine, not 'a' and 'b'"),
    ],
)
def test_wrong_usage(checkout: Checkout, flags: list[str], message: str) -> None:
    done = reference(checkout, *flags)
    assert done.returncode == 2
    assert done.stderr.startswith(f"tools/reference: {message}")
    assert not (checkout.stubs / "log").exists()
    assert not (checkout.root / "reports/reference").exists()


def test_help(checkout: Checkout) -> None:
    done = reference(checkout, "--help")
    assert done.returncode == 0
    assert "tools/reference xeon-2-cores\n" in done.stdout
