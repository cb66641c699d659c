"""``python3 -m darrm …`` is ``darrm …``."""

import os
import subprocess
import sys

from ._program import program


def main() -> None:
    """Become the program."""
    command = [program(), *sys.argv[1:]]
    if os.name == "nt":
        sys.exit(subprocess.run(command).returncode)
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
