# SPDX-License-Identifier: MIT
"""Reads result files: answers, comparisons and pages made of them."""
