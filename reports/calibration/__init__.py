# SPDX-License-Identifier: MIT
"""How often the rule of reports/compare is wrong, and how much it finds."""
