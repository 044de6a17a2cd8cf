"""The durable memory of the gateway, behind one contract (docs/store.md)."""
