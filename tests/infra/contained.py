"""Run commands as a container engine would: non-root, a read-only root, no rights, no network.

A host has its own network, in which names resolve to loopback; each container has its own mounts
and process ids. The program is process 1 of its container, as under an engine. Needs util-linux and
root.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from benchmarks.instruments.processes import children_of, wait_for

ROOT = Path(__file__).resolve().parents[2]
USER = 10001
UP_S = 240.0
"""Enough to compile kernels, even if tests share two cores."""
PROBE_S = 0.5
SYSTEM = ("/usr",)
ETC = ("passwd", "group", "nsswitch.conf", "ld.so.cache", "ld.so.conf", "ssl", "localtime")
"""The part of /etc in a container; files and folders may be mounted in it."""
LINKS = ("/bin", "/lib", "/lib64", "/sbin")
BRINGS_UP = """
set -e
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs "$NEW"
for folder in $OWN; do
  mkdir -p "$NEW$folder"; mount -t tmpfs -o "mode=750,uid=$RUNS_AS,gid=$RUNS_AS" tmpfs "$NEW$folder"
done
# After those: the environment of a check may lie below /tmp.
for folder in $BOUND; do
  mkdir -p "$NEW$folder"; mount --bind "$folder" "$NEW$folder"
  mount -o remount,bind,ro,nosuid "$NEW$folder"
done
for link in $LINKED; do
  if [ -L "$link" ]; then cp -P "$link" "$NEW$link"
  else mkdir -p "$NEW$link"; mount --bind "$link" "$NEW$link"; fi
done
mkdir -p "$NEW/etc"
for name in $ETC; do if [ -e "/etc/$name" ]; then cp -aL "/etc/$name" "$NEW/etc/"; fi; done
cp "$HOSTS" "$NEW/etc/hosts"
mkdir -p "$NEW/proc" "$NEW/dev"
mount -t proc proc "$NEW/proc"
mount --rbind /dev "$NEW/dev"
for pair in $VOLUMES; do
  mkdir -p "$NEW${pair#*:}"; mount --bind "${pair%%:*}" "$NEW${pair#*:}"
done
mount -o remount,ro "$NEW"
exec chroot "$NEW" /usr/bin/setpriv --reuid "$RUNS_AS" --regid "$RUNS_AS" --clear-groups \
  --no-new-privs --bounding-set=-all --inh-caps=-all \
  /usr/bin/env -i --chdir="$WORK" --split-string="$VARIABLES" "$@"
"""


@dataclass(slots=True, kw_only=True)
class Container:
    """A program in a container."""

    name: str
    user: int
    environment: Mapping[str, str]
    process: subprocess.Popen[bytes]
    log: Path

    def said(self) -> str:
        """Return what it has written."""
        return self.log.read_text(errors="replace")

    def pid(self) -> int:
        """Return the id of the program itself: its parent `unshare` ignores signals."""

        def look() -> int | None:
            assert self.process.poll() is None, f"{self.name} ended: {self.said()}"
            return next(iter(children_of(self.process.pid)), None)

        return int(wait_for(look, self.name))

    def stop(self, seconds: float) -> int:
        """Send SIGTERM and return the exit code; fail on timeout."""
        with suppress(ProcessLookupError):
            os.kill(self.pid(), signal.SIGTERM)
        return self.process.wait(seconds)


@dataclass(slots=True, kw_only=True)
class Host:
    """A host with its containers."""

    folder: Path
    holder: int
    containers: list[Container] = field(default_factory=list)

    def start(
        self,
        name: str,
        command: Sequence[str],
        environment: Mapping[str, str],
        *,
        own: Sequence[str] = ("/tmp", "/var/nightgrid"),
        volumes: Mapping[Path, str] | None = None,
        user: int = USER,
        work: str = "/var/nightgrid",
    ) -> Container:
        """Start a program; `own` are folders in memory, `volumes` folders of this machine."""
        new = self.folder / f"root-{name}-{len(self.containers)}"
        new.mkdir()
        log = self.folder / f"{new.name}.log"
        variables = {
            "PATH": f"{sys.prefix}/bin:/usr/bin:/bin",
            "PYTHONDONTWRITEBYTECODE": "1",
            **environment,
        }
        inside = {
            "PATH": os.environ["PATH"],
            "NEW": str(new),
            "BOUND": " ".join(dict.fromkeys((*SYSTEM, sys.base_prefix, str(ROOT), sys.prefix))),
            "LINKED": " ".join(link for link in LINKS if Path(link).exists()),
            "ETC": " ".join(ETC),
            "HOSTS": str(self.folder / "hosts"),
            "OWN": " ".join(own),
            "VOLUMES": " ".join(f"{here}:{there}" for here, there in (volumes or {}).items()),
            "RUNS_AS": str(user),
            "WORK": work,
            "VARIABLES": " ".join(shlex.quote(f"{n}={v}") for n, v in variables.items()),
        }
        with log.open("wb") as out:
            process = subprocess.Popen(
                [
                    *("nsenter", f"--net=/proc/{self.holder}/ns/net", "unshare", "--mount"),
                    *("--pid", "--fork", "--kill-child=KILL"),
                    *("sh", "-c", BRINGS_UP, "sh", *command),
                ],
                env=inside,
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        made = Container(
            name=name,
            user=user,
            environment=variables,
            process=process,
            log=log,
        )
        self.containers.append(made)
        return made

    def run(self, container: Container, command: Sequence[str]) -> subprocess.CompletedProcess[str]:
        """Run a command in a container, as a probe does: with its environment, as its user."""
        pid = container.pid()
        given = [f"{name}={value}" for name, value in container.environment.items()]
        into = ["nsenter", f"--target={pid}", "--mount", "--pid", "--net", "--root", "--wd"]
        ids = f"--reuid={container.user}", f"--regid={container.user}"
        user = ["setpriv", *ids, "--clear-groups"]
        return subprocess.run(
            [*into, *user, "env", "-i", *given, *command],
            capture_output=True,
            text=True,
            check=False,
        )

    def fetch(self, url: str) -> int:
        """Request an address of this host; return 0 if nothing answers."""
        words = ["curl", "--silent", "--write-out", "\n%{http_code}", "--max-time", "10", url]
        done = subprocess.run(
            ["nsenter", f"--net=/proc/{self.holder}/ns/net", *words],
            capture_output=True,
            text=True,
            check=False,
        )
        return int(done.stdout.rpartition("\n")[2] or 0)

    def close(self) -> None:
        """End everything."""
        for container in self.containers:
            with suppress(ProcessLookupError):
                os.killpg(container.process.pid, signal.SIGKILL)
            container.process.wait()


@contextmanager
def host(folder: Path, names: Sequence[str]) -> Iterator[Host]:
    """Make a host on which these names resolve to itself; skip if that is not permitted."""
    missing = [name for name in ("unshare", "nsenter", "setpriv", "curl") if not shutil.which(name)]
    tried = not missing and subprocess.run(
        ["unshare", "--net", "--mount", "--pid", "--fork", "true"], capture_output=True, check=False
    )
    if not tried or tried.returncode:
        why = f"no {', '.join(missing)}" if missing else "namespaces want root"
        if os.environ.get("CI") == "true":
            pytest.fail(f"containers cannot be tried: {why}")
        pytest.skip(why)
    (folder / "hosts").write_text(f"127.0.0.1 localhost {' '.join(names)}\n")
    command = ["unshare", "--net", "sh", "-c", "ip link set lo up && echo up && exec sleep 3600"]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        made = Host(folder=folder, holder=holder.pid)
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"up\n"
            yield made
        finally:
            made.close()
            holder.kill()
            time.sleep(0)


def let_in(folder: Path) -> None:
    """Let other users access a test's folder and its parents."""
    for each in (folder, *folder.parents[:2]):
        each.chmod(each.stat().st_mode | 0o055)


def wait_until(container: Container, ready: Callable[[], bool], what: str) -> None:
    """Wait until a condition holds; return the output of the program if it ends first."""

    deadline = time.monotonic() + UP_S
    while True:
        assert container.process.poll() is None, f"{what} ended: {container.said()}"
        if ready():
            return
        assert time.monotonic() < deadline, f"waited in vain for {what}: {container.said()}"
        # A probe is a process: too many would take the processor from the program.
        time.sleep(PROBE_S)


def stopped(container: Container, seconds: float) -> None:
    """Stop a program as an engine does, and check how it ended."""
    code = container.stop(seconds)
    assert "Traceback" not in container.said(), container.said()
    assert code in (0, -signal.SIGTERM, 128 + signal.SIGTERM), container.said()
