"""A listing by names in order gives what moto gives that looks at all names."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from moto.s3 import models

from benchmarks.instruments.s3_names import OrderedKeys, ordered_names

NAMES = st.text(alphabet="ab/\u00e9", min_size=1, max_size=6)


def bucket_of(names: list[str], removed: list[str]) -> models.FakeBucket:
    # moto remembers the owner of each name: another one than that of the servers of other tests.
    bucket = models.FakeBucket("of-this-test", "1", "us-east-1")
    for name in names:
        bucket.keys.setlist(name, [models.FakeKey(name, b"", "1", "us-east-1")])
    for name in removed:
        if name in bucket.keys:
            bucket.keys.pop(name)
    return bucket


def listed(bucket: models.FakeBucket, prefix: str, delimiter: str | None) -> Any:
    backend = models.S3Backend("us-east-1", "1")
    keys, folders, *rest = backend.list_objects(bucket, prefix, delimiter, None, None)
    return [key.name for key in keys], list(folders), rest


@given(
    names=st.lists(NAMES),
    removed=st.lists(NAMES),
    prefix=st.text(alphabet="ab/", max_size=3),
    delimiter=st.sampled_from([None, "/"]),
)
def test_a_listing_by_names_in_order_is_that_by_all_names(
    names: list[str], removed: list[str], prefix: str, delimiter: str | None
) -> None:
    expected = listed(bucket_of(names, removed), prefix, delimiter)
    with ordered_names():
        bucket = bucket_of(names, removed)
        assert isinstance(bucket.keys, OrderedKeys)
        assert listed(bucket, prefix, delimiter) == expected


def test_a_listing_looks_at_one_object_of_each_folder() -> None:
    with ordered_names():
        keys = bucket_of([f"{folder}/{file}" for folder in "ab" for file in range(9)], []).keys
    assert [name for name, _ in keys.under("", "/")] == ["a/0", "b/0"]
    assert [name for name, _ in keys.under("a/", "/")] == [f"a/{file}" for file in range(9)]
    assert list(keys.under("c/", "/")) == []
