# SPDX-License-Identifier: MIT
"""Result files as typed rows; numbers and tables as text."""
