# SPDX-License-Identifier: MIT
"""Steps under Nsight Systems, beside our own breakdown of them."""
