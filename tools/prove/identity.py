# SPDX-License-Identifier: MIT
"""Writes the versions of this machine: python -m tools.prove.identity BIN FILE."""

import json
import platform
import shutil
import sys
from importlib.metadata import distributions
from pathlib import Path

from tools.prove.monitor import output_of, queried

_OF_GPU = ("nvidia-", "torch", "triton", "numpy", "scipy")
_QUERY = "name,driver_version,vbios_version,persistence_mode,pstate,power.limit"


def wheels() -> dict[str, str]:
    found = {
        name: one.version
        for one in distributions()
        if (name := one.metadata["Name"]) and name.startswith(_OF_GPU)
    }
    return dict(sorted(found.items()))


def missing_libraries(programs: Path) -> list[str]:
    """The distinct lines of ldd for libraries that are not found."""
    lines = output_of("ldd", *map(str, sorted(programs.iterdir()))).splitlines()
    return sorted({line.strip() for line in lines if "not found" in line})


def main(programs: Path, out: Path) -> None:
    if shutil.which("nvidia-smi"):
        print(output_of("nvidia-smi", "-q"))
    found = {
        "gpu": queried(_QUERY),
        "wheels": wheels(),
        "missing": missing_libraries(programs),
        "kernel": platform.release(),
    }
    print(json.dumps(found, indent=1))
    out.write_text(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
