# SPDX-License-Identifier: MIT
"""Plots that a spec of reports/experiments cannot express."""
