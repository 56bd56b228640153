# SPDX-License-Identifier: MIT
"""The program trainbench_plan, which answers requests (answers.h)."""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any

from reports.results.refused import Refused
from tools.planner.formulas import whole

Json = dict[str, Any]
# Returns the program's answer. Raises Refused if the request is at fault, and Failed.
Ask = Callable[[Json], Json]
PROGRAM = Path(__file__).resolve().parents[2] / "build/release/tools/trainbench_plan"


class Failed(Refused):
    status = 1


class Program:
    """Starts with its first request, and answers all of them."""

    def __init__(
        self, path: Path = PROGRAM, environment: Mapping[str, str] | None = None
    ) -> None:
        self.path, self.environment = path, environment

    @cached_property
    def _process(self) -> "subprocess.Popen[bytes]":
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [self.path], stdin=pipe, stdout=pipe, env=self.environment
        )

    def __call__(self, request: Json) -> Json:
        """An Ask. If the program ends instead, exits with its status, or 1 for
        0; 128 + N if signal N ended it."""
        process = self._process
        assert process.stdin and process.stdout
        asked = json.dumps(request, ensure_ascii=False)
        try:
            line = f"{asked}\n".encode()
        except UnicodeEncodeError as error:
            raise Refused(f"{asked!a} is not UTF-8") from error
        with suppress(BrokenPipeError):
            process.stdin.write(line)
            process.stdin.flush()
        answer = process.stdout.readline()
        if not answer:
            ended = process.wait()
            status = 128 - ended if ended < 0 else ended
            print(f"{self.path.name}: ended with status {status}", file=sys.stderr)
            sys.exit(status or 1)
        found: Json = json.loads(answer, parse_float=lambda text: whole(float(text)))
        for key, error_type in (("refused", Refused), ("failed", Failed)):
            if key in found:
                raise error_type("\\n".join(found[key].splitlines()))
        return found


RUN = Program()
