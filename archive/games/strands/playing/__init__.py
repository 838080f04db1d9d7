"""Boards of Strands while they are played: covers searched again under what was heard."""
