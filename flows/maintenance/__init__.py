"""What is wrong with the files of a lake, and what can be mended of it."""
