# SPDX-License-Identifier: MIT
"""The end of a command: its status, and its message where it cannot print."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from reports.command import NEEDED
from results import ROOT

MODULE = """
import os, signal, sys, time
def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(60)
if "load" in sys.argv:
    interrupt()
def main(arguments):
    if "run" in arguments:
        interrupt()
    if "exit" in arguments:
        sys.exit("no such row")
    print("1 ms \\u00b1 3 %" if not arguments else "line\\n" * int(arguments[0]))
    return 7
"""
FULL = "tools/x: cannot print: No space left on device\n"
CLOSED = "tools/x: cannot print: Bad file descriptor\n"
STOPPED = "tools/x: interrupted\n"


@pytest.mark.parametrize(
    ("command", "status", "out", "err"),
    [
        ("x", 7, "1 ms ± 3 %\n", ""),
        ("PYTHONIOENCODING=ascii x", 7, "1 ms \\xb1 3 %\n", ""),
        ("x 100000 | head -n 1", 7, "line\n", ""),
        ("x >/dev/full", 2, "", FULL),
        ("x 100000 >/dev/full", 2, "", FULL),
        ("x >&-", 2, "", CLOSED),
        ("x 2>&- 1>/dev/full", 2, "", ""),
        ("x exit", 1, "", "no such row\n"),
        ("x exit 2>/dev/full", 1, "", ""),
        ("x run", 130, "", STOPPED),
        ("x load", 130, "", STOPPED),
    ],
)
def test_how_a_command_ends(
    tmp_path: Path, command: str, status: int, out: str, err: str
) -> None:
    (tmp_path / "mine.py").write_text(MODULE)
    path = shlex.quote(f"{ROOT}:{tmp_path}")
    python = f"{shlex.quote(sys.executable)} -m reports.command tools/x mine"
    script = f'x() {{ PYTHONPATH={path} {python} "$@"; }}; {command}'
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", script],
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (status, out, err)


def test_all_missing_modules_are_named_at_once() -> None:
    # Without site-packages Python has no third-party modules.
    command = [sys.executable, "-S", "-m", "reports.command", "tools/answers"]
    done = subprocess.run(
        [*command, "reports.answers.__main__"],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (3, "")
    for name in NEEDED:
        assert done.stderr.count(name) == 2, done.stderr


def test_what_reports_take_of_others_is_listed() -> None:
    sources = (path.read_text("utf-8") for path in (ROOT / "reports").rglob("*.py"))
    imports = re.compile(r"^(?:from|import) (\w+)", re.MULTILINE)
    taken = {name for source in sources for name in imports.findall(source)}
    own = {"reports", "tools", "markupsafe", *sys.stdlib_module_names}
    assert taken - own == set(NEEDED)


def test_all_that_python_runs_ends_so() -> None:
    mains = {
        path: path.read_text(encoding="utf-8").split('if __name__ == "__main__":\n')
        for room in ("reports", "tools")
        for path in (ROOT / room).rglob("*.py")
    }
    ends = {path: parts[1] for path, parts in mains.items() if len(parts) > 1}
    # It runs before .venv exists, and prints a line.
    del ends[ROOT / "tools/lib/gpu_driver.py"]
    # The former is packed for machines without this repository; the latter is run by
    # the build, independent of the repository.
    alone = ("prove", "null_gpu")
    ends = {path: end for path, end in ends.items() if path.parent.name not in alone}
    assert len(ends) > 10
    assert [str(p) for p, end in ends.items() if "run_main(" not in end] == []


def test_no_script_of_tools_runs_python_by_itself() -> None:
    own = re.compile(r"exec .*python|^run_python (\S+)", re.MULTILINE)
    scripts = [path for path in (ROOT / "tools").iterdir() if path.is_file()]
    texts = (path.read_text(encoding="utf-8") for path in scripts)
    called = [found for text in texts for found in own.findall(text)]
    assert len(called) > 5
    for module in called:
        assert (ROOT / f"{module.replace('.', '/')}.py").is_file(), module


def test_a_pipe_is_written_to_and_a_file_is_replaced(tmp_path: Path) -> None:
    write = "from reports.results.files import write_files; from pathlib import Path;"
    there = tmp_path / "there"
    there.write_text("old")
    paths = f"{{Path('/dev/stdout'): 'told', Path({str(there)!r}): 'new'}}"
    done = subprocess.run(
        [sys.executable, "-c", f"{write} write_files({paths})"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert (done.stdout, there.read_text()) == ("told", "new")
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
