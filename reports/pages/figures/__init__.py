# SPDX-License-Identifier: MIT
"""The plots of experiments, which the modules of reports/experiments name."""
