# SPDX-License-Identifier: MIT
"""Reads result files and tells what they say."""
