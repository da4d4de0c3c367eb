"""A worker with this folder on its path dies, without a word, where it would begin to make a run."""

import os
import signal
import sys

if "rankviz.store.worker" in " ".join(sys.orig_argv):
    from rankviz.store.family_runner import LeaseKeeper

    def die(*_: object) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    LeaseKeeper.begin_run = die
