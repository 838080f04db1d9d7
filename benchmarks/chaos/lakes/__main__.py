"""Run `python -m benchmarks.chaos.lakes`."""

from benchmarks.chaos.lakes.suite import main

raise SystemExit(main())
