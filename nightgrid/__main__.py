"""The program `nightgrid`, and `python -m nightgrid`, where it is not on the path."""

from __future__ import annotations

import sys

INTERRUPTED = 130


def main() -> int:
    """Run one command and return its exit code, whatever is imported when Ctrl-C is pressed."""
    try:
        from nightgrid.service.cli import app

        return app.main()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        return INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
