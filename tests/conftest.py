# SPDX-License-Identifier: MIT
"""The setup shared by all tests in Python."""

import os
import signal

# A git hook of another checkout sets these: the tests' repositories are their own.
for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"):
    os.environ.pop(name, None)
# A shell makes its background jobs ignore Ctrl-C, and their children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
# nohup does so with SIGHUP. A handler lets the tests outlive their terminal, too, and
# their children start with the default.
if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
    signal.signal(signal.SIGHUP, lambda *_: None)
