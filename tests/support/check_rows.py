# SPDX-License-Identifier: MIT
"""Fails unless a result file has rows of an experiment, and none of them is an error.

usage: check_rows.py RESULT EXPERIMENT
"""

import json
import sys
from pathlib import Path


def problems(document: dict[str, list[dict[str, str]]], experiment: str) -> list[str]:
    def of(key: str) -> list[dict[str, str]]:
        return [r for r in document[key] if r["name"].split("/")[0] == experiment]

    if not document["complete"]:
        return ["the run did not end"]
    if not of("benchmarks") and not of("skipped") and not of("errors"):
        return [f"no row of {experiment}"]
    return [f"{row['name']}: {row['reason']}" for row in of("errors")]


if __name__ == "__main__":
    result, name = sys.argv[1:]
    sys.exit("\n".join(problems(json.loads(Path(result).read_text()), name)) or 0)
