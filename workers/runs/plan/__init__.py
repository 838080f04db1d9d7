"""How a run is planned: jobs estimated, cut into chunks, written as segments."""
