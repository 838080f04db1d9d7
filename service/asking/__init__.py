"""What is asked, at every door alike: a puzzle, an ask, rules and words become a question."""
