# SPDX-License-Identifier: MIT
"""How each experiment is reported."""
