"""On-demand solves: jobs, and the keeper that drives the runs they become."""
