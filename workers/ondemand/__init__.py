"""On-demand solves: jobs, and the keeper that drives what they become."""
