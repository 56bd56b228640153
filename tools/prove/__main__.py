# SPDX-License-Identifier: MIT
"""The command `run.sh prove` of a pack."""

import argparse
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from reports.compare.argument_types import number, pattern, several
from tools.ab_run.child import interruptible
from tools.ab_run.errors import Interrupted
from tools.prove import evidence, monitor, table
from tools.prove.process import Place
from tools.prove.runner import now, run_stages
from tools.prove.stages import STAGES, Stage
from tools.prove.state import State

GOOD, FAILED, USAGE = 0, 1, 2
_BAD = {"failed", "timed out", "stuck", "killed"}
KEEP_EVERY = 60.0  # seconds


def _filter(text: str) -> str:
    pattern(text.removeprefix("-"))
    return text


def parse(tokens: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="run.sh prove",
        description="Proves the suite on this GPU, stage by stage, and collects the "
        "evidence of each stage. No failure ends it. The next call continues where "
        "this one ran out of time.",
        allow_abbrev=False,
    )
    add = parser.add_argument
    add("--pack", type=Path, required=True, help=argparse.SUPPRESS)
    add("--into", type=Path, help="folder for the 8 files of evidence")
    add(
        "--seconds",
        type=number(1, 10**6, whole=True),
        default=520.0,
        help="time limit of this call (520)",
    )
    state = Path("build/gpu-proof")
    add("--state", type=Path, default=state, help=f"folder that calls share ({state})")
    numbers = several(dict.fromkeys(map(str, sorted(one.number for one in STAGES))))
    add("--stages", type=numbers, help="run only these: 0,3,4")
    add("--filter", type=_filter, default="", help="cases to run; -/own/: all others")
    add("--again", action="store_true", help="run ended stages again, too")
    add("--rehearse", type=Path, metavar="DIR", help="run on the null GPU in DIR")
    add("--list", action="store_true", help="print the stages and run nothing")
    arguments = parser.parse_args(tokens)
    if arguments.into is None and not arguments.list:
        parser.error("--into is missing; allowed: a folder for what is to be kept")
    return arguments


def chosen(arguments: argparse.Namespace, stages: Sequence[Stage]) -> list[Stage]:
    wanted = arguments.stages
    return [one for one in stages if wanted is None or str(one.number) in wanted]


@contextmanager
def _kept(state: Path, into: Path) -> Iterator[Callable[[], None]]:
    """Keeps the evidence every minute, and when the yielded function is called: what
    kills this call may take the machine, and the state with it."""
    lock, ended = threading.Lock(), threading.Event()

    def keep() -> None:
        try:
            with lock:
                evidence.keep(state, into)
        except OSError as error:
            print(f"run.sh prove: {error}", file=sys.stderr)

    def repeat() -> None:
        while not ended.wait(KEEP_EVERY):
            keep()

    thread = threading.Thread(target=repeat, daemon=True)
    thread.start()
    try:
        yield keep
    finally:
        ended.set()
        thread.join()


def prove(arguments: argparse.Namespace, stages: Sequence[Stage]) -> int:
    """Runs the chosen stages. Errors: OSError, ValueError for an unknown state."""
    state = State(arguments.state.resolve())
    into = arguments.into.resolve()
    place = Place(
        pack=arguments.pack.resolve(),
        state=state.folder,
        null_gpu=arguments.rehearse and arguments.rehearse.resolve(),
        patience=5 if arguments.rehearse else 1,
        pattern=arguments.filter,
    )
    state.find_killed()
    state.calls.append({"started": now()})
    evidence.keep(state.folder, into)  # fails early if `into` cannot be written
    wanted = chosen(arguments, stages)
    if arguments.again:
        state.run_again(wanted)
    end = state.began + arguments.seconds
    log = state.folder / "dmon.txt"
    try:
        with monitor.watched(log), _kept(state.folder, into) as keep:
            for _ in run_stages(state.left(wanted), place, state, end):
                keep()
    except Interrupted as interrupt:
        name = signal.Signals(interrupt.number).name
        print(f"run.sh prove: stopped by {name}", file=sys.stderr)
        state.find_killed()
    state.save()
    evidence.keep(state.folder, into)
    print(table.render(stages, state, state.left(wanted), arguments.again))
    bad = {record["status"] for record in state.parts.values()} & _BAD
    return FAILED if bad else GOOD


def main(tokens: Sequence[str], stages: Sequence[Stage] = STAGES) -> int:
    arguments = parse(tokens)
    if arguments.list:
        for stage in chosen(arguments, stages):
            print(f"{stage.key:<5}{stage.name:<12}{stage.limit:>4.0f} s")
        return GOOD
    try:
        with interruptible():
            return prove(arguments, stages)
    except (OSError, ValueError) as error:
        print(f"run.sh prove: {error}", file=sys.stderr)
        return USAGE


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
