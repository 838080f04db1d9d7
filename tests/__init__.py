"""A package, so that `tests` is not the folder of this name that spylls installs."""
