"""What the payloads of every game have in common, and who reads them."""
