# SPDX-License-Identifier: MIT
"""The suite's work done in PyTorch, to compare times and results."""
