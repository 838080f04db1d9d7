"""A tree stores common prefixes once, and each token only sees its own text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from nightgrid.archive.games.strands.language.language_model import TokenTree

TEXTS = st.lists(st.lists(st.integers(0, 2), min_size=1, max_size=6), min_size=1, max_size=8)


@given(TEXTS)
def test_every_text_is_a_path_and_every_beginning_occurs_once(texts: list[list[int]]):
    tree = TokenTree.of(texts)
    for text, path in zip(texts, tree.paths, strict=True):
        assert tree.ids[path].tolist() == text
        assert tree.parents[path].tolist() == [-1, *path[:-1].tolist()]
        assert tree.depths[path].tolist() == list(range(len(text)))
    beginnings = {tuple(text[: n + 1]) for text in texts for n in range(len(text))}
    assert len(tree.ids) == len(beginnings)


@given(TEXTS)
def test_a_token_sees_the_tokens_before_it_in_its_text(texts: list[list[int]]):
    tree = TokenTree.of(texts)
    sees = tree.sees()
    for path in tree.paths:
        for n, token in enumerate(path.tolist()):
            assert sees[token].nonzero()[0].tolist() == sorted(path[: n + 1].tolist())
