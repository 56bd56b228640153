# SPDX-License-Identifier: MIT
"""The state of the proof, in a folder that later calls reuse."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from reports.results.files import write_files
from tools.prove.stages import Stage

Json = dict[str, Any]
# A part that ran when a call was killed runs again once, last: it may be the cause.
MOST_KILLS = 2


@dataclass(frozen=True)
class Part:
    """A stage, or a part of it."""

    stage: Stage
    index: int  # from 1

    @property
    def key(self) -> str:
        whole = self.stage.parts == 1
        return f"{self.stage.number}" if whole else f"{self.stage.number}.{self.index}"


def parts_of(stages: Sequence[Stage]) -> Iterator[Part]:
    for stage in stages:
        for index in range(1, stage.parts + 1):
            yield Part(stage, index)


class State:
    def __init__(self, folder: Path) -> None:
        """Errors: OSError, ValueError for a proof.json of another format."""
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.calls: list[Json] = []
        self.parts: dict[str, Json] = {}
        if self.path.exists():
            known = json.loads(self.path.read_text(encoding="utf-8"))
            if not isinstance(known, dict) or not known.keys() >= {"calls", "parts"}:
                raise ValueError(f"{self.path} is no proof")
            self.calls, self.parts = known["calls"], known["parts"]

    @property
    def path(self) -> Path:
        return self.folder / "proof.json"

    def save(self) -> None:
        document = {"calls": self.calls, "parts": self.parts}
        write_files({self.path: json.dumps(document, indent=1) + "\n"})

    def status(self, part: Part) -> str:
        return str(self.parts.get(part.key, {}).get("status", ""))

    def find_killed(self) -> None:
        """Marks parts that are still running from an earlier call as killed."""
        for record in self.parts.values():
            if record["status"] == "running":
                record["status"] = "killed"
                record["kills"] = record.get("kills", 0) + 1

    def left(self, parts: Sequence[Part], again: bool) -> list[Part]:
        """The parts that a call runs, in its order."""
        if again:
            return list(parts)
        new, killed = [], []
        for part in parts:
            status = self.status(part)
            if not status or (status == "cut" and part.stage.takes_rest):
                new.append(part)
            elif status == "killed" and self.kills(part) < MOST_KILLS:
                killed.append(part)
        return new + killed

    def kills(self, part: Part) -> int:
        return int(self.parts.get(part.key, {}).get("kills", 0))
