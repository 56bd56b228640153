# SPDX-License-Identifier: MIT
"""Results of many commits: which rows changed, whether it is real, and since when."""
