"""The command ``bochner``, as the wheel installs it: the same program as the binary."""

import signal
import sys

from ._core import main as run


def main() -> int:
    """Run the command line with the arguments of this process."""
    # Ctrl-C is the command's own, as in the binary; Python would only make a note of it and wait.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return run(["bochner", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
