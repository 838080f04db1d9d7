"""The searches of Letter Boxed over the graph of states.

`distinct` takes boards of up to 64 letters that are all different: the letters left fit in one
machine word. `general` takes the others: a state is a set of ways of playing the words so far.
`search.engine_of` chooses by the board alone.
"""
