# SPDX-License-Identifier: MIT
"""tools/advise: prints the gains from possible changes, as Markdown."""

import argparse
import sys
from pathlib import Path

from reports.advice.advice import advice
from reports.advice.tell import markdown
from reports.results.result_file import load

GOOD, NOTHING = 0, 1


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tools/advise", description=__doc__)
    parser.add_argument("result", type=Path, help="JSON file of a run")
    path = parser.parse_args(arguments).result
    given = advice(load(path))
    told = markdown(given)
    if not told:
        why = "; ".join(given.lacks)
        print(f"tools/advise: {path} gives no advice: {why}", file=sys.stderr)
        return NOTHING
    print(told)
    return GOOD
