"""A package, so that `tests` is not the folder that spylls installs."""
