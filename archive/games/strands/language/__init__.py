"""A language model of the family Llama in NumPy: its file, its tokens, its weights as bytes."""
