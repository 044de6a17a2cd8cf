"""What JSON and TOML are read into. To a type checker `isinstance(value, dict)` says nothing of its keys; these do."""

from typing import Any, TypeGuard


def is_object(value: Any) -> TypeGuard[dict[str, Any]]:
    return isinstance(value, dict)


def is_array(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)
