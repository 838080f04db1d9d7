"""Tables that commands print, where they are long."""
