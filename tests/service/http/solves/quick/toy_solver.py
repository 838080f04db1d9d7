"""A process in the place of one that solves: it answers with what it is asked, or misbehaves.

Asked to `tell`, it answers with all that it was asked before.
"""

import json
import os
import signal
import sys


def main() -> None:
    print("{}", flush=True)
    asked: list[str] = []
    for line in sys.stdin:
        if "die" in line:
            os._exit(1)
        if "stall" in line:
            signal.pause()
        if "tell" in line:
            print(json.dumps({"asked": asked}), flush=True)
            continue
        asked.append(json.loads(line)["say"])
        print("no JSON" if "garble" in line else line.strip(), flush=True)


main()
