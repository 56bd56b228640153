# SPDX-License-Identifier: MIT
"""The common style and the building blocks of all plots."""
