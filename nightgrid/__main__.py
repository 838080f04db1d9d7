"""`python -m nightgrid`: the command `nightgrid`, where it is not on the path."""

from __future__ import annotations

import sys

from nightgrid.service.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
