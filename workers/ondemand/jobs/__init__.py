"""Jobs on demand as their clients see them: submitted, under way, answered."""
