"""Durations in words: formats how long something took, and reads what people write."""

INTERVAL = r"^(?=\d)(\d{1,6}d)?(\d{1,6}h)?(\d{1,6}m)?(\d{1,6}s)?$"
"""`30m`, `1h30m`, `1d`."""


def duration_text(seconds: float) -> str:
    if seconds < 0.001:
        return f"{max(0.0, seconds) * 1e6:.0f} µs"  # clocks of two machines differ
    if seconds < 1:
        return f"{seconds * 1e3:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    return f"{minutes // 60} h {minutes % 60} min"
