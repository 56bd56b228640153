# SPDX-License-Identifier: MIT
"""Runs cases on a null GPU and says what they would need of a real one."""
