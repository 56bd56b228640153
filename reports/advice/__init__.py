# SPDX-License-Identifier: MIT
"""A step's distance from its lower bounds, and the gain from possible changes."""
