# SPDX-License-Identifier: MIT
"""The suite's work done in PyTorch, to be timed beside it and to check it."""
