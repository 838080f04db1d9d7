"""Strands: cover a board of letters with words, one of them a spangram.

A rule of the game is a field of `rules` (which renames every job: its one-line form is hashed),
and holds in `check`, in what lies on a board (`pieces`, `paths`), in each search (`zones`, `sweep`,
`general`) and in `listing`. Its option is in nightgrid.service.games.strands.plug.
"""
