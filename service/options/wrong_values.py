"""What is wrong with the value of an option, in the words of all other sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typer import TyperException

_WORDS = {int: "a whole number", float: "a number"}


def usage_sentence(error: TyperException, command: str | None = None) -> str:
    """Describe what is wrong with the words of a command, and where its help is.

    Of a value that its option does not take, this is the option, the value and what was expected,
    as the option itself and the codes of the library tell them.
    """
    option = getattr(error, "param", None)
    fault = _fault(error)
    if option is None or fault is None:
        text = error.format_message()
        stop = "" if text.endswith(("?", "!", ".")) else "."
        return f"{text}{stop} Help: {' '.join(filter(None, ('nightgrid', command)))} --help"
    name = max(option.opts, key=len) if option.opts[0].startswith("-") else _called(option.metavar)
    return f"{name} is {_shown(fault['input'])}; expected {_expected(option.type_descriptor)}"


def _called(metavar: str) -> str:
    """Name an argument; one whose name lists what it may be gets a name of its own."""
    return "what to do" if "|" in metavar else metavar


def _fault(error: TyperException) -> dict[str, Any] | None:
    """Take the first fault out of what the library of values raised."""
    faults = getattr(error.__cause__, "errors", None)
    found: list[dict[str, Any]] = faults() if callable(faults) else []
    return found[0] if found else None


def _shown(value: Any) -> str:
    text = str(value)
    try:
        float(text)
    except ValueError:
        return f"{text!r:.40}"
    return f"{text:.40}"


def _expected(descriptor: Any) -> str:
    if descriptor.choices:
        return f"one of {', '.join(map(str, descriptor.choices))}"
    what = _WORDS.get(descriptor.annotation, "another value")
    bounds = descriptor.parameter_info.min, descriptor.parameter_info.max
    least, most = (None if b is None or b != int(b) else int(b) for b in bounds)
    if least is None:
        return what if most is None else f"{what} of at most {most:,}"
    return f"{what} of {least:,} or more" if most is None else f"{what} from {least:,} to {most:,}"
