"""What `rejoinder doctor` finds out about voice: whether the programs are there and the endpoints take their keys."""

import asyncio
import shutil
from importlib.util import find_spec

import aiohttp

from rejoinder.errors import BadUse
from rejoinder.extras import how_to_install
from rejoinder.media import sound
from rejoinder.media.settings import LinkSettings, SpeechToText, TextToSpeech

SECONDS = 15.0
_REFUSED = (401, 403)
NO_FFMPEG = (
    "ffmpeg is not installed, so recordings are neither measured nor converted: install it "
    "(Debian: apt-get install ffmpeg)"
)


async def check_speech(said: SpeechToText | TextToSpeech) -> str:
    """Raises BadUse with what to do."""
    how = _program(said.command) if said.command else await _endpoint(said)
    if sound.ffmpeg() is None:
        raise BadUse(NO_FFMPEG)
    return f"{how}, and ffmpeg is there"


async def check_links(said: LinkSettings) -> str:
    """Raises BadUse with what to do."""
    if said.command:
        return _program(said.command)
    if find_spec("html2text") is None:
        raise BadUse(f"pages are read with the extra 'documents'; it is not installed: {how_to_install('documents')}")
    return "pages of the public internet are read"


def _program(command: tuple[str, ...]) -> str:
    if (path := shutil.which(command[0])) is None:
        raise BadUse(f"there is no program {command[0]!r}: install it, or write its whole path into command")
    return f"{path} is there"


async def _endpoint(said: SpeechToText | TextToSpeech) -> str:
    """Asks for its models: that costs nothing, and says whether the key is taken."""
    url = f"{(said.base_url or '').rstrip('/')}/models"
    headers = {} if said.api_key is None else {"Authorization": f"Bearer {said.api_key.reveal()}"}
    try:
        async with (
            asyncio.timeout(SECONDS),
            aiohttp.ClientSession(headers=headers) as session,
            session.get(url, allow_redirects=False) as response,
        ):
            status = response.status
    except (TimeoutError, aiohttp.ClientError, OSError, ValueError):
        raise BadUse(f"{said.base_url}: nobody answers there; see whether base_url is right and it runs") from None
    if status in _REFUSED:
        raise BadUse(f"{said.base_url}: it refuses the key (status {status}); set the right api_key")
    return f"{said.base_url} answers"
