# SPDX-License-Identifier: MIT
"""Makes the package reports and the scripts of tools/ importable by their tests."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tools"), str(ROOT / "tests" / "support")]
