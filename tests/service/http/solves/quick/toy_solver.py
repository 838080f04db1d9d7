"""A process in the place of one that solves: it answers with what it is asked, or misbehaves."""

import os
import signal
import sys


def main() -> None:
    print("{}", flush=True)
    for line in sys.stdin:
        if "die" in line:
            os._exit(1)
        if "stall" in line:
            signal.pause()
        print("no JSON" if "garble" in line else line.strip(), flush=True)


main()
