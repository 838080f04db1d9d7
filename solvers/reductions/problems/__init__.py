"""The problems that are reduced: instances, and how they are written."""
