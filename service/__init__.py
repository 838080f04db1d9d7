"""The doors for people: the command line and the drawing of boards."""
