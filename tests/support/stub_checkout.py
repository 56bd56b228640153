# SPDX-License-Identifier: MIT
"""A checkout with parts of tools/, stubs of the programs it runs, and an experiment."""

import json
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from processes import Finished, Started, run, started

ROOT = Path(__file__).resolve().parents[2]
TOOLS = ROOT / "tools"

# Configuring creates build.ninja and the compile commands.
CMAKE = """#!/bin/bash
[[ -z $STUB_CMAKE_LOG ]] || echo "$*" >>"$STUB_CMAKE_LOG"
if [[ $1 == --preset ]]; then
  mkdir -p "build/$2"
  : >"build/$2/build.ninja"
  for source in model/*.cc; do
    echo "\\"command\\": \\"c++ -Winvalid-pch -include a/cmake_pch.hxx -c\\""
    echo "\\"file\\": \\"$PWD/$source\\""
  done >"build/$2/compile_commands.json"
fi
[[ $1 != --build ]] || exit "${STUB_BUILD_STATUS:-0}"
"""
# Records its call; STUB_FAILS names the tool that finds an error.
RECORDER = """#!/bin/bash
echo "${0##*/} $*" >>"$STUB_LOG"
[[ ${STUB_FAILS:-} != "${0##*/}" ]] || exit 8
"""
# Writes the files that its flags name, and one argument per line to its output.
TRAINBENCH = """#!/bin/bash
if [[ ${!#} == --list_unavailable ]]; then
  echo "$STUB_UNAVAILABLE"
  exit
fi
[[ "$*" != "--device=cuda --list" ]] || exit "${STUB_GPU_STATUS:-2}"
for argument in "$@"; do
  echo "$argument"
  case $argument in
    --benchmark_out=* | --samples_out=*)
      [[ -n $STUB_SILENT ]] || printf %s "${STUB_WRITES-text}" >"${argument#*=}" ;;
  esac
done
if [[ -n $STUB_WAIT ]]; then
  trap 'echo stopped; exit 42' TERM INT
  : >"$STUB_WAIT"
  for ((i = 0; i < 12000; i++)); do sleep 0.05; done
fi
exit "${STUB_STATUS:-0}"
"""


@dataclass(frozen=True)
class Checkout:
    root: Path
    stubs: Path

    def environment(self, **extra: str) -> dict[str, str]:
        path = f"{self.stubs}:/usr/local/bin:/usr/bin:/bin"
        log = str(self.stubs / "log")
        return {"PATH": path, "STUB_LOG": log, "HOME": str(self.stubs), **extra}

    def run(self, script: str, *flags: str, status: int = 0, **extra: str) -> Finished:
        path = self.root / "tools" / script
        # The result must not depend on the working directory.
        env = self.environment(**extra)
        return run(path, *flags, status=status, cwd=self.stubs, env=env)

    def started(self, script: str, *flags: str, **extra: str) -> Started:
        """Starts a script in a new session, and kills it in the end."""
        path = self.root / "tools" / script
        return started(path, *flags, cwd=self.stubs, env=self.environment(**extra))

    def results(self) -> list[str]:
        return sorted(path.name for path in (self.root / "results").glob("*"))

    def log(self) -> list[str]:
        return (self.stubs / "log").read_text().splitlines()


def write_script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)


# Lists its cases, or writes a result with those that match its filter.
_RESULT_PROGRAM = """#!{python}
import json, re, sys
flags = dict(a.lstrip("-").partition("=")[::2] for a in sys.argv[1:])
with open({log!r}, "a") as log:
    print("program", *sys.argv[1:], file=log)
content = json.loads({content!r})
pattern = flags.get("benchmark_filter", "")
rows = [row for row in content["benchmarks"] if re.search(pattern, row["name"])]
if "nonsense" in flags or not rows or flags["device"] != "cuda":
    sys.exit(2)
if "silent" in flags:
    sys.exit(-9)
if "benchmark_list_tests" in flags:
    print(*(row["name"] for row in rows), sep="\\n")
    sys.exit(0)
print("the table of the rows")
with open(flags["benchmark_out"], "w") as out:
    json.dump(content | {{"benchmarks": rows}}, out)
sys.exit(int(flags.get("status", 0)))
"""


def result_program(path: Path, document: Any, log: Path) -> Path:
    """Writes a program that has the rows of this result and logs its calls."""
    known = {"content": json.dumps(document), "log": str(log)}
    write_script(path, _RESULT_PROGRAM.format(python=sys.executable, **known))
    return path


def git(root: Path, *arguments: str, words: str = "") -> str:
    """Returns the output of git in a folder, given `words` on stdin; commits have an
    author, but no signature and no hooks."""
    settings = (
        *("user.name=a", "user.email=a@example.com"),
        *("commit.gpgsign=false", "core.hooksPath=/dev/null"),
    )
    options = [option for setting in settings for option in ("-c", setting)]
    return subprocess.check_output(
        ["git", *options, *arguments], cwd=root, text=True, input=words
    ).strip()


def commit(checkout: Checkout) -> None:
    git(checkout.root, "init", "--quiet", "--initial-branch=main")
    git(checkout.root, "add", ".")
    git(checkout.root, "commit", "--quiet", "--message=a")


def example() -> str:
    """The experiment in CONTRIBUTING.md: its one block of C++."""
    document = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    (block,) = re.findall(r"^```cpp\n(.*?)^```$", document, re.M | re.S)
    return str(block)
