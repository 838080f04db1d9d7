"""Commands for on-demand jobs: submit, status, result, cancel, in a lake or at a service."""
