"""The page at `/`: its files, as the service sends them."""
