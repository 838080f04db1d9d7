"""Run `python -m benchmarks.chaos`."""

from benchmarks.chaos.suite import main

raise SystemExit(main())
