"""HTML out of values: no text becomes an element or an attribute."""

from __future__ import annotations

import pytest

from nightgrid.service.report.html import Html, joined, tag


def test_what_is_no_element_is_escaped():
    hostile = "<script>alert('x')</script>&\x00"
    assert str(tag("p", hostile)) == "<p>&lt;script&gt;alert('x')&lt;/script&gt;&amp;\ufffd</p>"
    assert str(tag("p", title='" onload="x')) == '<p title="&quot; onload=&quot;x"></p>'
    assert "<b>" in tag("p", tag("b", "x"))


@pytest.mark.parametrize(
    ("content", "expected"),
    [([None, "a", ["b", tag("i")]], "ab<i></i>"), ([1], "1"), ([Html("<br>")], "<br>")],
)
def test_contents_are_joined(content, expected):
    assert str(joined(*content)) == expected


def test_names_of_attributes_are_those_of_html():
    assert str(tag("i", class_="a", aria_label="b", hidden=None)) == (
        '<i class="a" aria-label="b"></i>'
    )
