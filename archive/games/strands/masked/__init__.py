"""Reference 004's scoring of covers: its masked language model, and its formula to compare with."""
