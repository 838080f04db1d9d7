"""What the payloads of every game have in common, and what reads them."""
