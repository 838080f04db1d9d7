"""The fenced blocks of README and docs: how they are run, or why not, and what they print.

A block's info string tells the test how to run it; GitHub only shows its first word:

    ```sh                       run by bash, in the clone's top folder, in the order of the page
    ```sh exit=3                the same; the block's last command ends with this exit code
    ```sh no-run: docker        not run; its commands, options and paths are looked up
    ```python                   run by itself, in the same folder
    ```text output              what the block before it prints: these lines in this order,
                                others may stand between them, … stands for anything
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
_BLOCK = re.compile(r"^```([^\n`]+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_EXIT = re.compile(r" exit=(\d+)$")
_NO_RUN = re.compile(r" no-run: (.+)$")
_WRITTEN = re.compile(r"^<!-- begin: written by .*?^<!-- end -->", re.MULTILINE | re.DOTALL)
_HERE_TEXT = re.compile(r"(<<'?(\w+)'?.*?\n).*?^\2$", re.MULTILINE | re.DOTALL)
_OPERATORS = {"|", "||", "&&", "&", ";", "(", ")", "<", ">", ">>", "2>", "<<"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    """One fenced block of a page."""

    page: str
    line: int
    language: str
    text: str
    exit_code: int
    reason: str
    """Why the block is not run; empty for one that is."""
    is_output: bool

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def is_run(self) -> bool:
        return self.language in ("sh", "python") and not self.reason


def files_of_a_clone() -> list[str]:
    """List the files that git tracks or would track."""
    if (ROOT / ".git").exists() and shutil.which("git"):
        told = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard", "-z"],
            cwd=ROOT,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        return [name for name in told.split("\0") if name and (ROOT / name).exists()]
    found = []
    for folder, inside, names in os.walk(ROOT):
        place = Path(folder).relative_to(ROOT)
        inside[:] = [n for n in inside if not n.startswith(".") and n not in ("__pycache__", "var")]
        # Links to folders, such as those of nightgrid/, count as files.
        links = [name for name in inside if (Path(folder) / name).is_symlink()]
        found += [(place / name).as_posix() for name in (*names, *links)]
    return found


def pages() -> list[str]:
    """List the pages with commands for readers."""
    names = [name for name in files_of_a_clone() if name.endswith(".md")]
    return sorted(
        n for n in names if n.startswith("docs/") or n in ("README.md", "CONTRIBUTING.md")
    )


def blocks_of(page: str, text: str | None = None) -> list[Block]:
    """Read every fenced block of a page that has an info string."""
    text = (ROOT / page).read_text() if text is None else text
    # `make docs` writes signatures, and the examples of the help.
    text = _WRITTEN.sub(lambda match: "\n" * match[0].count("\n"), text)
    found = []
    for match in _BLOCK.finditer(text):
        info = match[1].strip()
        reason, code = _NO_RUN.search(info), _EXIT.search(info)
        found.append(
            Block(
                page=page,
                line=text[: match.start()].count("\n") + 1,
                language=info.split()[0],
                text=match[2],
                exit_code=int(code[1]) if code else 0,
                reason=reason[1] if reason else "",
                is_output=info == "text output",
            )
        )
    return found


def commands_of(script: str) -> Iterator[list[str]]:
    """Split a shell script, or lines of a unit or a compose file, into words of its commands."""
    for line in _HERE_TEXT.sub(r"\1", script).replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
        lexer.whitespace_split = True
        command: list[str] = []
        for word in lexer:
            if word in _OPERATORS:
                if command:
                    yield command
                command = []
            else:
                command.append(word)
        if command:
            yield command
