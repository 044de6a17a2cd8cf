"""Which of our environment variables a program that we start may see."""

from collections.abc import Mapping

PASSED_ALWAYS = (
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "TMPDIR", "TZ", "LANG", "LC_ALL", "LC_CTYPE",
    "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "no_proxy",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
)  # fmt: skip
"""The variables that any program needs to run. Keys and tokens are not among them."""


def environment_for(ours: Mapping[str, str], also: tuple[str, ...] = ()) -> dict[str, str]:
    """`also`: more variables that this program may see."""
    return {name: ours[name] for name in (*PASSED_ALWAYS, *also) if name in ours}
