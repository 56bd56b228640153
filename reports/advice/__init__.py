# SPDX-License-Identifier: MIT
"""What would help: how far a step is from its bounds, and what a change would buy."""
