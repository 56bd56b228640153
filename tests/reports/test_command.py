# SPDX-License-Identifier: MIT
"""The end of a command: its status, and its message where it cannot print."""

import re
import shlex
import sys
from pathlib import Path

import pytest

from processes import run
from reports.command import NEEDED
from results import ROOT

MODULE = """
import os, signal, sys, time
from tools.ab_run.errors import BuildFailed
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
    if "open" in arguments:
        open("")
    if "refuse" in arguments:
        raise BuildFailed("no row")
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
        ("x refuse", 3, "", "tools/x: no row\n"),
        ("x open", 2, "", "tools/x: [Errno 2] No such file or directory: ''\n"),
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
    done = run("bash", "-o", "pipefail", "-c", script, status=status)
    assert (done.stdout, done.stderr) == (out, err)


def test_all_missing_modules_are_named_at_once() -> None:
    # Without site-packages Python has no third-party modules.
    command = [sys.executable, "-S", "-m", "reports.command", "tools/answers"]
    env = {"PYTHONPATH": str(ROOT)}
    done = run(*command, "reports.answers.main", status=3, cwd=ROOT, env=env)
    assert done.stdout == ""
    for name in NEEDED:
        assert done.stderr.count(name) == 2, done.stderr


def test_what_reports_take_of_others_is_listed() -> None:
    sources = (path.read_text("utf-8") for path in (ROOT / "reports").rglob("*.py"))
    imports = re.compile(r"^(?:from|import) (\w+)", re.MULTILINE)
    taken = {name for source in sources for name in imports.findall(source)}
    own = {"reports", "tools", "markupsafe", *sys.stdlib_module_names}
    assert taken - own == set(NEEDED)


def test_all_that_python_starts_ends_so() -> None:
    texts = {
        path: path.read_text(encoding="utf-8")
        for room in ("reports", "tools")
        for path in (ROOT / room).rglob("*.py")
        # They run before .venv exists, without this repository, or in the build.
        if path.name != "gpu_driver.py"
        and path.parent.name not in ("prove", "null_gpu")
    }
    mains = [path for path, text in texts.items() if "\nif __name__ ==" in text]
    assert len(mains) >= 2
    assert [path for path in mains if "\n    run_main(" not in texts[path]] == []


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
    done = run(sys.executable, "-c", f"{write} write_files({paths})", cwd=ROOT)
    assert (done.stdout, there.read_text()) == ("told", "new")
    assert [path.name for path in tmp_path.iterdir()] == ["there"]
