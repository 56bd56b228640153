# SPDX-License-Identifier: MIT
"""The results of many commits: what changed, whether it is real, and since when."""
