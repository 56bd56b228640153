# SPDX-License-Identifier: MIT
"""Measures the error rate and the power of the rule of reports/compare."""
