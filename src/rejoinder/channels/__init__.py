"""Edge: where messages come from and go to. A channel is a file or folder with a declaration, `CHANNEL`, found by its
name."""
