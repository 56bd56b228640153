#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A fake tools/ab. `answers.json` has, for each bad commit, its slowdown, an exit
status instead of a result, the fewest pairs that decide, another context than that in
`first.json`, or whether it waits for SIGTERM."""

import json
import signal
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


def note(words: str) -> None:
    with (HERE / "calls.txt").open("a") as calls:
        calls.write(words + "\n")


def main(good: str, bad: str, flags: list[str]) -> int:
    note(" ".join([good, bad, *flags]))
    given = dict(flag.lstrip("-").partition("=")[::2] for flag in flags)
    known = json.loads((HERE / "answers.json").read_text()).get(bad, {})
    if "waits" in known:
        signal.pause()
    if "status" in known:
        return int(known["status"])
    ratio = known.get("ratio", 1.0)
    is_slower = ratio - 1 > float(given["threshold"]) / 100
    verdict = "REGRESSED" if is_slower else "EQUIVALENT"
    if int(given["max_pairs"]) < known.get("pairs", 0):
        verdict = "INCONCLUSIVE"
    row = {
        "name": given["benchmark_filter"].strip("^$").replace("\\", ""),
        "verdict": verdict,
        "ratio": ratio,
        "interval": [ratio - 0.01, ratio + 0.01],
        "pairs": 12,
        "changes": [],
    }
    sides = {"base": {"git_revisions": [good]}, "new": {"git_revisions": [bad]}}
    folder = Path(given["out"])
    folder.mkdir(parents=True, exist_ok=True)
    rows = [] if known.get("absent") else [row]
    result = {"kind": "trainbench ab result", "comparison": {**sides, "rows": rows}}
    (folder / "result.json").write_text(json.dumps(result | {"version": 1}))
    first = json.loads((HERE / "first.json").read_text())
    first["context"] |= known.get("context", {})
    (folder / "001.json").write_text(json.dumps(first))
    return int(is_slower)


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
    except KeyboardInterrupt:
        note("interrupted")
        time.sleep(0.5)  # a second signal would end it here
        note("ended")
