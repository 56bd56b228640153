# SPDX-License-Identifier: MIT
"""A program that measures nothing but writes result files like the built one.

Its text contains its configuration as JSON, so two programs differ in their text.
"""

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from reports.command import status_of
from reports.compare.ab_record import AbRun, load
from stub_checkout import write_script
from tools.ab_run.main import main

# Noise and date depend on the file name, i.e. on the position of the process, so an
# interruption makes no difference. Which side runs at a position varies with the path
# of the program; a swing from one pair to the next is the same for both sides.
_TEXT = """#!{python}
import json, math, os, random, re, signal, socket, sys, time
config = json.loads({config!r})
flags = dict((a.lstrip("-").partition("=")[::2]) for a in sys.argv[1:])
log = config.get("log")
if log:
    padding = len(os.environ.get("TRAINBENCH_AB_PADDING", ""))
    with open(log, "a") as file:
        print(json.dumps([sys.argv[1:], padding]), file=file)

def fail(text):
    print("trainbench: " + text, file=sys.stderr)
    sys.exit(2)

if "nonsense" in flags:
    fail("unknown flag '--nonsense'; --help lists the flags")
if "turns" in flags and not config.get("turns", True):
    fail("unknown flag '--turns'")
pattern = flags.get("benchmark_filter", ".")
rows = [name for name in config["rows"] if re.search(pattern, name)]
if not rows:
    fail("no case matches")
if "benchmark_list_tests" in flags:
    print("\\n".join(rows))
    sys.exit(0)
random.Random(int(flags.get("shuffle", 0))).shuffle(rows)

out = flags["benchmark_out"]
name = os.path.basename(out)

def once(event):
    if name not in config.get(event, []):
        return False
    marker = os.path.join(config["markers"], event + name)
    if os.path.exists(marker):
        return False
    open(marker, "w").close()
    return True

link = socket.socket(fileno=int(flags["turns"]))

def ask(question):
    link.sendall((question + "\\n").encode())
    answer = link.recv(1).decode()
    if config.get("turns_log"):
        with open(config["turns_log"], "a") as file:
            print(json.dumps([name, question, answer]), file=file)
    if not answer:
        fail("lost the connection to tools/ab")

# Fake weather changes with every turn of either program.
def turn_us(us):
    ask("sample")
    if "weather" not in config:
        return us
    path = os.path.join(config["markers"], "weather")
    with open(path, "a") as file:
        print(name, file=file)
    with open(path) as file:
        return us * (1 + config["weather"] * len(file.readlines()))

def us_of(row):
    noise = random.Random(name + row).gauss(0, config.get("noise", 0.001))
    swing = config.get("swing", 0) * (-1) ** ((int(name[:3]) - 1) // 2)
    return config["rows"][row] * math.exp(noise + swing)

def turns_of(row):
    ask("case " + row)
    if row in config.get("errors", []):
        return []
    return [turn_us(us_of(row)) for _ in range(config.get("rounds", 3))]

def write(complete):
    errors = [row for row in rows if row in config.get("errors", [])]
    good = [row for row in rows if row not in errors]
    benchmarks, samples = [], []
    for row in good:
        us = us_of(row)
        benchmarks.append(dict(name=row, run_type="iteration", real_time=us,
                               label="model=fake", peak_bytes=1024))
        samples.append(dict(name=row, repetition=0, samples_us=[us, us, us]))
        if turns_us.get(row):
            samples[-1]["turn_us"] = turns_us[row]
    minutes, seconds = divmod(int(name[:3]), 60)
    date = "2026-01-01T00:%02d:%02d+00:00" % (minutes, seconds)
    context = dict(host_name="fake", device_kind="cpu", date=date)
    context.update(config.get("context", {{}}))
    document = dict(
        context=context, benchmarks=benchmarks,
        skipped=[], errors=[dict(name=r, reason="wrong") for r in errors],
        complete=complete)
    with open(out, "w") as file:
        json.dump(document, file)
    with open(flags["samples_out"], "w") as file:
        for sample in samples:
            print(json.dumps(sample), file=file)
    return 1 if errors else 0

if name in config.get("dies", []) or once("dies_once"):
    print("about to die", file=sys.stderr, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
if name in config.get("breaks", []):
    with open(os.path.join(os.path.dirname(out), "001.json"), "w") as file:
        file.write('{{"context":')
turns_us = {{}}
if once("interrupts"):
    def stop(number, frame):
        write(False)
        sys.exit(130)
    signal.signal(signal.SIGINT, stop)
    os.kill(os.getppid(), getattr(signal, config.get("signal", "SIGINT")))
    time.sleep(600)
turns_us = {{row: turns_of(row) for row in rows}}
sys.exit(write(True))
"""


def text_of(config: dict[str, Any]) -> str:
    return _TEXT.format(python=sys.executable, config=json.dumps(config))


ROWS = {"a": 100.0, "b": 200.0}
SHORT = "--max_pairs=7"  # the fewest for two rows


@dataclass(frozen=True)
class Pairs:
    """tools/ab on the programs `base` and `new` of a folder, or on `base` alone."""

    folder: Path
    captured: pytest.CaptureFixture[str]
    config: dict[str, Any] = field(default_factory=dict)  # for both programs

    @property
    def out(self) -> Path:
        return self.folder / "out"

    def write(self, name: str, rows: dict[str, float] = ROWS, **config: Any) -> Path:
        """Writes a program with these times in us; for `config` see its text."""
        markers = self.folder / "markers"
        markers.mkdir(exist_ok=True)
        known = {"markers": str(markers), "log": str(self.folder / "log")}
        path = self.folder / name
        text = text_of({"rows": rows, **known, **self.config, **config})
        write_script(path, text)
        return path

    def ab(self, *flags: str, status: int = 0) -> tuple[str, str]:
        """Returns the output and the errors of a call with this exit status."""
        base, new = self.folder / "base", self.folder / "new"
        programs = (str(base), str(new if new.exists() else base))
        given = ["--binaries", *programs, f"--out={self.out}", *flags]
        ended = status_of("tools/ab", main, given)
        out, err = self.captured.readouterr()
        assert ended == status, err
        return out, err

    def run(self) -> AbRun:
        return load(self.out)

    def result(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads((self.out / "result.json").read_text())
        return document

    def calls(self) -> list[dict[str, str]]:
        """Returns the flags and the padding's length of every call that measured, in
        the order of their processes."""
        log = self.folder / "log"
        found = []
        for line in log.read_text().splitlines() if log.exists() else ():
            arguments, padding = json.loads(line)
            flags = dict(a.lstrip("-").partition("=")[::2] for a in arguments)
            if "benchmark_out" in flags:
                found.append(flags | {"padding": str(padding)})
        return sorted(found, key=lambda call: call["benchmark_out"])

    def filters(self) -> list[str | None]:
        return [call.get("benchmark_filter") for call in self.calls()]
