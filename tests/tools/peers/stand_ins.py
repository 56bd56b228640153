# SPDX-License-Identifier: MIT
"""Stand-ins for our program and for PyTorch's processes."""

import sys
from pathlib import Path
from types import ModuleType

import pytest

from stub_checkout import write_script

# Logs its flags and its threads, and writes the row of the case that its filter names,
# or skips it.
_PROGRAM = r"""#!{python}
import json, os, re, sys
flags = dict(flag.split("=", 1) for flag in sys.argv[1:])
with open({log!r}, "a") as log:
    print(json.dumps([flags, os.environ["OMP_NUM_THREADS"]]), file=log)
name = re.sub(r"[\\^$()]", "", flags["--benchmark_filter"])
row = {{"name": name, "real_time": 200.0 if "library" in name else 400.0,
       "peak_bytes": 2.0**20, "page_faults": 3.0, "warmup_calls": 4, "samples": 7}}
skipped = [{{"name": name, "reason": "no such kernel"}}]
rows = [] if {lacks!r} in name else [row]
with open(flags["--benchmark_out"], "w") as out:
    json.dump({{"benchmarks": rows, "skipped": [] if rows else skipped}},
              out)
"""


def trainbench(folder: Path, lacks: str = "fused") -> Path:
    """Writes a program that skips cases with `lacks` in their name."""
    path, log = folder / "trainbench", str(folder / "log")
    write_script(path, _PROGRAM.format(python=sys.executable, log=log, lacks=lacks))
    return path


def replace_worker(
    monkeypatch: pytest.MonkeyPatch, module: ModuleType, script: str
) -> None:
    """Makes PyTorch's processes run `script`, which has the side and the counts."""

    def command(*_: object, worker: str = "", **given: object) -> list[str]:
        counts = {key: given[key] for key in ("warmups", "samples")}
        head = f"import json, os, sys, time\nside, counts = {worker!r}, {counts}\n"
        return [sys.executable, "-c", head + script]

    monkeypatch.setattr(module, "worker_command", command)
