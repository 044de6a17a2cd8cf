"""Values that no log line, error, traceback or printed configuration may show as they are."""


class Secret:
    """Holds a token or password. Only `reveal` gives it back, so each place that uses it can be found."""

    __slots__ = ("_value", "written")

    def __init__(self, value: str, written: str = "***") -> None:
        self._value = value
        self.written = written
        """Shown in its place: `***`, or the `${VAR}` it came from."""

    def reveal(self) -> str:
        return self._value

    def __repr__(self) -> str:
        return f"Secret({self.written})"

    __str__ = __repr__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._value == other._value

    def __hash__(self) -> int:
        return hash((Secret, self._value))


class FromEnvironment(str):
    """A text that comes, whole or in part, from environment variables. It is shown as it was written in the
    configuration."""

    __slots__ = ("written",)
    written: str

    def __repr__(self) -> str:
        return repr(self.written)
