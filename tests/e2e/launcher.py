# SPDX-License-Identifier: MIT
"""Starts the program like a launcher: one process per rank, configured by variables."""

import socket
import subprocess
from collections.abc import Sequence

from processes import Finished
from program import Program

# Sockets that reserve ports until this process ends, so no two tests share a port.
_taken: list[socket.socket] = []


def free_port() -> int:
    """Returns a free port below the range of ephemeral ports."""
    for port in range(20000, 30000):
        name = socket.socket(socket.AF_UNIX)
        try:
            name.bind(f"\0trainbench test port {port}")
            with socket.socket() as listener:
                listener.bind(("", port))
        except OSError:
            name.close()
            continue
        _taken.append(name)
        return port
    raise OSError("no free port")


def rank_variables(
    rank: int, ranks: int, port: int, address: str = "127.0.0.1"
) -> dict[str, str]:
    return {
        "RANK": str(rank),
        "WORLD_SIZE": str(ranks),
        "LOCAL_RANK": str(rank),
        "MASTER_ADDR": address,
        "MASTER_PORT": str(port),
    }


def local_ranks(ranks: int, **extra: str) -> list[dict[str, str]]:
    """Returns the variables of each rank on this machine, with `extra`."""
    port = free_port()
    return [rank_variables(rank, ranks, port) | extra for rank in range(ranks)]


def run_all(
    program: Program,
    variables: Sequence[dict[str, str]],
    *flags: str,
    prefixes: Sequence[Sequence[str]] = (),
) -> list[Finished]:
    """Starts one process per set of variables, all at once, each with its prefix."""
    started = []
    for i, extra in enumerate(variables):
        prefix = list(prefixes[i]) if prefixes else []
        started.append(
            subprocess.Popen(
                [*prefix, *program.command(*flags)],
                cwd=program.directory,
                env=program.environment(extra),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
    finished = []
    try:
        for process in started:
            out, err = process.communicate(timeout=600)
            finished.append(Finished(process.args, process.returncode, out, err))
    finally:
        for process in started:
            process.kill()
    return finished
