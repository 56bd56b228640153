# SPDX-License-Identifier: MIT
"""Decides whether one revision is slower than another, with a known error rate."""
