"""Edge: who answers. An agent kind is one file; its name is its registration."""
