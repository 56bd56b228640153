# SPDX-License-Identifier: MIT
"""tools/rehearse --mesh: one rank of a job on many GPUs."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.planner.arguments import parser as make_parser
from tools.rehearsal import mesh_text
from tools.rehearsal.arguments import GPUS
from tools.rehearsal.run import environment

_USAGE = """\
Usage: tools/rehearse --gpu=GPU --mesh=MESH [--json] [flags]

Plays one rank of a job on many GPUs, on a null GPU and without the other ranks:
its memory, kernels and collectives are exact. The time of its step is computed.

  tools/rehearse --gpu=h100 --mesh=data:4,fsdp:16,tensor:4 --model=8B
  tools/rehearse --gpu=h100 --mesh=auto --ranks=64 --model=8B
  tools/rehearse --gpu=h100 --mesh=auto --ranks=1,8,64,1024 --model=8B
"""


def asks_for_a_mesh(tokens: Sequence[str]) -> bool:
    names = (token.partition("=")[0] for token in tokens)
    return any(name in ("-mesh", "--mesh") for name in names)


def main(tokens: Sequence[str], program: Path, library: Path) -> int:
    """Passes the flags of the program, trainbench_plan, on, including --help. Returns
    its exit status; 128 + N if signal N ended it."""
    parser = make_parser("", prog="tools/rehearse", add_help=False)
    parser.add_argument("--gpu", required=True, choices=GPUS)
    parser.add_argument("--json", action="store_true")
    given, flags = parser.parse_known_args(tokens)
    done = subprocess.run(
        [program, *flags],
        env=environment(library, given.gpu, 1, os.environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode or given.json:
        print(done.stdout, end="")
    elif done.stdout.startswith("{"):
        print(mesh_text.render(json.loads(done.stdout)))
    else:  # the program printed its --help
        print(_USAGE, done.stdout, sep="\n", end="")
    if done.returncode < 0:
        print(f"tools/rehearse: signal {-done.returncode}", file=sys.stderr)
        return 128 - done.returncode
    return done.returncode
