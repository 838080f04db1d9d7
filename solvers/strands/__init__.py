"""Strands: cover a board of letters with words, one of them a spangram.

A rule of the game is a field of `rules` (a new one renames every job, since their one-line form is
hashed), and is enforced by `check`, by `pieces` and `paths`, by each search (`zones`, `sweep`,
`general`) and by `listing`. Its option is in nightgrid.service.games.strands.plug.
"""
