"""What a request asks: its body, its header fields, and whether it is taken or was answered."""
