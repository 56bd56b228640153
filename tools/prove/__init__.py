# SPDX-License-Identifier: MIT
"""Runs what shows that the suite is right on a GPU, and keeps the evidence."""
