"""How a hook over HTTP signs what it posts, by the rules of Standard Webhooks. Pure.

A receiver checks three headers: `webhook-id`, `webhook-timestamp` and `webhook-signature`. The signature covers id,
time and body, so that none of them can be changed and an old request cannot be sent again later.
"""

import base64
import binascii
import hashlib
import hmac

PREFIX = "whsec_"
"""A secret that begins like this is base64, as Standard Webhooks has it; any other is taken as it is."""


def headers(secret: str, id: str, at: int, body: bytes) -> dict[str, str]:
    """`at`: seconds since 1970, of this attempt."""
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
