# SPDX-License-Identifier: MIT
"""Runs cases on a null GPU and reports the resources that they need on a real one."""
