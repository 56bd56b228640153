# SPDX-License-Identifier: MIT
"""Computes a run's answers: for each experiment a sentence with numbers, and tables."""
