"""What both fast searches of Strands remember: states, sets, supports."""
