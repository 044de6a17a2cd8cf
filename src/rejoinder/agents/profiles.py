"""The endpoints and keys of an agent's model: its own, and those of `[agents.NAME.profiles.PROFILE]`.

A key is sent only to the endpoint it was written for: a profile with its own address needs its own key.
"""

from collections.abc import Callable, Mapping
from typing import Any

from rejoinder.agents.endpoint import Endpoint
from rejoinder.agents.settings import EndpointSettings, Profile
from rejoinder.secret import Secret

Headers = Callable[[str], Mapping[str, str]]
"""The headers with the key."""
OWN = ""


class ModelEndpoint:
    """One endpoint with its key and its additions to every request."""

    def __init__(self, settings: EndpointSettings, profile: Profile, own: Secret | None, headers: Headers) -> None:
        key = profile.api_key or (own if profile.base_url is None else None)
        self.key = key.reveal() if key is not None else ""
        self.options: dict[str, Any] = {**settings.options, **profile.options}
        given = {name: value.reveal() for name, value in settings.headers.items()} if profile.base_url is None else {}
        self.endpoint = Endpoint(profile.base_url or settings.base_url, {**headers(self.key), **given}, self.key)


class ModelEndpoints:
    def __init__(self, settings: EndpointSettings, key: Secret | None, headers: Headers) -> None:
        self.own = ModelEndpoint(settings, Profile(), key, headers)
        self._endpoints = {OWN: self.own}
        self._endpoints |= {
            name: ModelEndpoint(settings, profile, key, headers) for name, profile in settings.profiles.items()
        }

    @property
    def profiles(self) -> tuple[str, ...]:
        return tuple(name for name in self._endpoints if name != OWN)

    def parted(self, model: str) -> tuple[str, ModelEndpoint]:
        """The model's name without its profile, and the endpoint that has it."""
        if "@" not in model:
            return model, self.own
        name, at, profile = model.rpartition("@")
        return (name, self._endpoints[profile]) if at and name and profile in self._endpoints else (model, self.own)

    async def close(self) -> None:
        for model_endpoint in self._endpoints.values():
            await model_endpoint.endpoint.close()
