# SPDX-License-Identifier: MIT
"""The state of the proof, in a folder that later calls reuse."""

import json
import time
from collections.abc import Sequence
from pathlib import Path

from reports.results.files import write_files
from tools.prove.readings import Json
from tools.prove.stages import Stage

# A stage that ran when a call was killed, or left no new row, runs again once.
MOST_KILLS = 2
# The order of a call: what is stuck may hang, what was killed may be the cause.
_TURNS = ("cut", "new", "stuck", "killed")


class State:
    def __init__(self, folder: Path) -> None:
        """Errors: OSError, ValueError for a proof.json of another format."""
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.began = time.monotonic()  # of this call, which is the last of `calls`
        self.calls: list[Json] = []
        self.parts: dict[str, Json] = {}  # by the stage's key
        if self.path.exists():
            known = json.loads(self.path.read_text(encoding="utf-8"))
            if not isinstance(known, dict) or not known.keys() >= {"calls", "parts"}:
                raise ValueError(f"{self.path} is no proof")
            self.calls, self.parts = known["calls"], known["parts"]

    @property
    def path(self) -> Path:
        return self.folder / "proof.json"

    def save(self) -> None:
        self.calls[-1]["seconds"] = round(time.monotonic() - self.began, 1)
        document = {"calls": self.calls, "parts": self.parts}
        write_files({self.path: json.dumps(document, indent=1) + "\n"})

    def find_killed(self) -> None:
        """Marks stages that are still running from an earlier call as killed."""
        for record in self.parts.values():
            if record["status"] == "running":
                record["status"] = "killed"
                record["kills"] = record.get("kills", 0) + 1

    def run_again(self, stages: Sequence[Stage]) -> None:
        """Marks ended stages to be run again. Until then their results are kept."""
        for stage in stages:
            if stage.key in self.parts:
                self.parts[stage.key]["again"] = True

    def is_again(self, stage: Stage) -> bool:
        return bool(self.parts.get(stage.key, {}).get("again"))

    def left(self, stages: Sequence[Stage]) -> list[Stage]:
        """The stages that a call runs, in its order."""

        def status(stage: Stage) -> str:
            record = self.parts.get(stage.key, {"status": "new"})
            return "new" if self.is_again(stage) else str(record["status"])

        return [
            stage
            for turn in _TURNS
            for stage in stages
            if status(stage) == turn
            and (turn in ("cut", "new") or self.kills(stage) < MOST_KILLS)
        ]

    def kills(self, stage: Stage) -> int:
        return int(self.parts.get(stage.key, {}).get("kills", 0))
