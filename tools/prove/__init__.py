# SPDX-License-Identifier: MIT
"""Proves the suite on a GPU, and collects the evidence."""
