"""What the doctor looks at: what is installed, the server, the lake."""
