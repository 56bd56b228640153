# SPDX-License-Identifier: MIT
"""How long a step takes on a device that need not be at hand."""
