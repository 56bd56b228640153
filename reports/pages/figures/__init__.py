# SPDX-License-Identifier: MIT
"""The plots of each experiment."""
