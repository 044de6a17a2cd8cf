"""What survives: the durable memory of the gateway, behind one contract (docs/store.md)."""
