# SPDX-License-Identifier: MIT
"""Whether one revision is slower than another, with a stated chance of error."""
