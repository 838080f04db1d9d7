"""User interfaces: the command line, the HTTP service, the web page, and drawings of boards."""
