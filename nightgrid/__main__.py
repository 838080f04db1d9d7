"""The program `nightgrid`, and `python -m nightgrid`, where it is not on the path."""

from __future__ import annotations

import sys

INTERRUPTED = 130


def main() -> int:
    """Run one command and return its exit code, whatever is imported when Ctrl-C is pressed."""
    try:
        from nightgrid.service.cli import app

        code = app.main()
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        code = INTERRUPTED
    if code == INTERRUPTED:
        # Python runs a text to make a dataclass. An interrupt within one would end `python -m` by
        # SIGINT although it was caught, unless another text is run after it.
        exec("")  # noqa: S102 - a constant text
    return code


if __name__ == "__main__":
    sys.exit(main())
