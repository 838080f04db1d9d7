"""The search of Pips layer by layer: order of cells, states, counts, solutions."""
