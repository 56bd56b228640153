# SPDX-License-Identifier: MIT
"""Profiles steps with Nsight Systems, for comparison with our own breakdown."""
