# SPDX-License-Identifier: MIT
"""Predicts what a job needs, without running it."""
