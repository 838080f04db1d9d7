"""The image is built by the instructions of its Dockerfile, and what it installs works."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.infra.image import Image, built, instructions
from tests.infra.kernel_cache import copy_kernels

VERSION = "0.7.0.dev3"


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    made = built(tmp_path_factory.mktemp("image"), {"VERSION": VERSION})
    # What the first container of a deployment compiles in minutes.
    copy_kernels(Path(made.place("/var/cache/nightgrid")))
    return made


@pytest.mark.long(reason="it installs what the image has from the package index")
@pytest.mark.timeout(600)
def test_the_image_is_built_and_names_its_version(image: Image):
    """Given VERSION, Then the program says it, and its doctor finds nothing that is missing."""
    told = image.run([*image.entry, "--version"])
    assert (told.stdout.split(), told.stderr) == (["nightgrid", VERSION], "")
    doctor = image.run([*image.entry, "doctor"])
    assert doctor.returncode == 0, doctor.stdout + doctor.stderr
    # Each program that Compose and Kubernetes start in the image.
    schedule = [*image.entry, "schedule", "--help"]
    for words in (["prefect", "--version"], schedule):
        done = image.run(words)
        assert done.returncode == 0, done.stderr
    # With the extra `trace`, which NIGHTGRID_TRACE_URL wants.
    code = "import opentelemetry.exporter.otlp.proto.http.trace_exporter"
    assert image.run(["python", "-c", code]).stderr == ""
    assert "--uid 10001 " in (image.root / "useradd.txt").read_text()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("# a\nRUN a \\\n# b\n && c\n", [("RUN", "a    && c")]),
        ("FROM x AS y\n\nUSER 1:1\n", [("FROM", "x AS y"), ("USER", "1:1")]),
    ],
)
def test_instructions_are_read_as_an_engine_reads_them(text: str, found: list[tuple[str, str]]):
    assert [(name, " ".join(rest.split())) for name, rest in instructions(text)] == [
        (name, " ".join(rest.split())) for name, rest in found
    ]


def test_an_instruction_that_is_not_known_is_refused(tmp_path: Path):
    with pytest.raises(ValueError, match="ADD x y"):
        Image(root=tmp_path, arguments={}).step("ADD", "x y")


def test_paths_of_the_image_lie_below_its_root(tmp_path: Path):
    image = Image(root=tmp_path, arguments={})
    assert image.place("/opt/nightgrid/bin:/usr/bin /lake") == (
        f"{tmp_path}/opt/nightgrid/bin:/usr/bin {tmp_path}/lake"
    )
    assert image.place("a/opt /optional") == "a/opt /optional"
