"""Pure puzzle solvers: puzzle in, outcome out; no files, no network, no clock but the budget's."""
