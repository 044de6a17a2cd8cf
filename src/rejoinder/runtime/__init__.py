"""The asyncio: does what the floors decided, decides nothing itself."""
