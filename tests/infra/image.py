"""Build the image without an engine: the instructions of infra/Dockerfile, in folders of a test.

Each path of the image lies below a folder, which takes the place of `/`; a step runs with the
programs of this machine. It refuses an instruction that it does not know. What it cannot show is
what an engine adds: the Python and the libraries of the base image, users, and layers.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = ROOT / "infra/Dockerfile"
TOPS = ("build", "lake", "opt", "var")
"""Folders of the image that steps name. The rest of its root is this machine's."""
LEFT_OUT = re.compile(r" --(?:no-cache-dir|no-cache|compile-bytecode)\b")
"""Options of steps that change how long it takes and not what is installed."""
SILENT = ("CMD", "LABEL", "USER")
"""Instructions that change no file and no variable."""


def instructions(text: str) -> list[tuple[str, str]]:
    """List the instructions of a Dockerfile, each with its words on one line."""
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    joined = "\n".join(lines).replace("\\\n", " ")
    found = [line.split(None, 1) for line in joined.splitlines() if line.strip()]
    return [(name, rest) for name, rest in found]


@dataclass(slots=True, kw_only=True)
class Image:
    """What the instructions have made so far; `root` stands for `/`, `programs` go before PATH."""

    root: Path
    arguments: dict[str, str]
    programs: list[Path] = field(default_factory=list)
    work: str = "/"
    set_by_arg: dict[str, str] = field(default_factory=dict)
    set_by_env: dict[str, str] = field(default_factory=dict)
    entry: list[str] = field(default_factory=list)

    def place(self, text: str) -> str:
        """Write paths of the image as those of this machine."""
        return re.sub(rf"(?<![\w./-])/(?=(?:{'|'.join(TOPS)})\b)", f"{self.root}/", text)

    def environment(self) -> dict[str, str]:
        """Give the variables of a step, or of the program that an image starts."""
        path = [*map(str, self.programs), "/usr/local/bin", "/usr/bin", "/bin"]
        said = {name: self.place(value) for name, value in self.set_by_env.items()}
        if "PATH" in said:
            path = [said.pop("PATH").split(":")[0], *path]
        kept = {
            name: value
            for name, value in os.environ.items()
            if name.startswith(("PIP_", "SSL_", "UV_")) or name.lower().endswith("_proxy")
        }
        if index := os.environ.get("PIP_INDEX_URL"):
            kept["UV_DEFAULT_INDEX"] = index
        home = self.root / "home"
        home.mkdir(exist_ok=True)
        return {
            "HOME": str(home),
            "UV_SYSTEM_CERTS": "1",
            **kept,
            **self.set_by_arg,
            **said,
            "PATH": ":".join(path),
        }

    def run(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        """Run a program as the built image does."""
        return subprocess.run(
            command,
            cwd=self.place(self.work),
            env=self.environment(),
            capture_output=True,
            text=True,
            check=False,
        )

    def step(self, name: str, rest: str) -> None:
        """Follow one instruction. Raises ValueError for one that is not known."""
        match name:
            case "FROM":
                # A stage has the arguments that it declares, and nothing of the stage before.
                self.work, self.set_by_arg, self.set_by_env = "/", {}, {}
            case "ARG":
                key, _, default = rest.partition("=")
                self.set_by_arg[key] = self.arguments.get(key, "".join(shlex.split(default)))
            case "ENV":
                self.set_by_env |= dict(word.split("=", 1) for word in shlex.split(rest))
            case "WORKDIR":
                self.work = rest
                Path(self.place(rest)).mkdir(parents=True, exist_ok=True)
            case "COPY":
                self._copy(rest.split())
            case "RUN":
                self._run_step(rest)
            case "ENTRYPOINT":
                self.entry = json.loads(rest)
            case _ if name in SILENT:
                pass
            case _:
                raise ValueError(f"{name} {rest}: an instruction that tests do not follow")

    def _copy(self, words: list[str]) -> None:
        if words[0].startswith("--from="):
            # Stages have one root here: what one has made is where the next one wants it.
            assert words[1] == words[2], words
            assert Path(self.place(words[1])).exists()
            return
        *sources, target = words
        into = Path(self.place(self.work)) / target
        ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
        for source in sources:
            path = ROOT / source
            if path.is_dir():
                shutil.copytree(path, into, symlinks=True, ignore=ignored)
            else:
                shutil.copy2(path, into / path.name)

    def _run_step(self, command: str) -> None:
        moved = self.place(LEFT_OUT.sub("", command))
        done = subprocess.run(
            ["sh", "-ec", moved],
            cwd=self.place(self.work),
            env=self.environment(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"RUN {moved}\n{done.stdout}{done.stderr}"


def built(root: Path, arguments: dict[str, str]) -> Image:
    """Build the image below a folder, with these build arguments.

    `python` and `pip` are a new environment's. `useradd` writes down its words, and `install`
    gives folders to no other user, since both would change this machine.
    """
    system, stubs = root / "system", root / "stubs"
    subprocess.run([sys.executable, "-m", "venv", system], check=True)
    stubs.mkdir()
    _program(stubs / "useradd", f'echo "$@" >> {root}/useradd.txt')
    checked = 'echo "$@" | grep -q "^-d -o [a-z]* -g [a-z]* "'
    _program(stubs / "install", f'{checked}; shift 5; mkdir -p "$@"')
    image = Image(root=root, arguments=arguments, programs=[stubs, system / "bin"])
    for name, rest in instructions(DOCKERFILE.read_text()):
        image.step(name, rest)
    return image


def _program(path: Path, line: str) -> None:
    path.write_text(f"#!/bin/sh\nset -e\n{line}\n")
    path.chmod(0o755)
