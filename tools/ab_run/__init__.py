# SPDX-License-Identifier: MIT
"""Two builds of the program, measured in pairs of fresh processes (tools/ab)."""
