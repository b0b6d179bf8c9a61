"""The command `ias`."""

import sys


def main() -> None:
    """Run the command line and end the process with its exit code."""
    from ias.cli.app import run

    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
