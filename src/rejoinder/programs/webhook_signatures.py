"""Signs the posts of hooks over HTTP, by the rules of Standard Webhooks. Pure.

A receiver checks three headers: `webhook-id`, `webhook-timestamp` and `webhook-signature`. The signature covers id,
time and body, so that none of them can be changed and an old request cannot be replayed.
"""

import base64
import binascii
import hashlib
import hmac

PREFIX = "whsec_"
"""A secret with this prefix is base64, as in Standard Webhooks; any other is used as it is."""


def headers(secret: str, id: str, at: int, body: bytes) -> dict[str, str]:
    """`at`: the time of this attempt, in seconds since 1970."""
    signature = hmac.new(_key(secret), f"{id}.{at}.".encode() + body, hashlib.sha256).digest()
    return {
        "webhook-id": id,
        "webhook-timestamp": str(at),
        "webhook-signature": f"v1,{base64.b64encode(signature).decode()}",
    }


def _key(secret: str) -> bytes:
    if secret.startswith(PREFIX):
        try:
            return base64.b64decode(secret.removeprefix(PREFIX), validate=True)
        except binascii.Error:
            pass
    return secret.encode()
