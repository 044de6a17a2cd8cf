"""The checks of `rejoinder doctor` for voice, links and files: whether programs and packages are installed, and whether
endpoints accept their keys."""

import asyncio
import shutil
from importlib.util import find_spec
from pathlib import Path

import aiohttp

from rejoinder.errors import BadUse
from rejoinder.extras import how_to_install
from rejoinder.filetypes import in_words
from rejoinder.media import sound
from rejoinder.media.settings import DocumentSettings, LinkSettings, PictureSettings, SpeechToText, TextToSpeech

SECONDS = 15.0
EXTRA = "documents"
READERS = {"pypdf": "pypdf", "docx": "python-docx", "html2text": "html2text", "PIL": "Pillow"}
"""The modules that the extra installs, with the names of their packages."""
PACKAGED = ("flite", "espeak-ng")
_REFUSED = (401, 403)
NO_FFMPEG = (
    "ffmpeg is not installed, so recordings are neither measured nor converted: install it "
    "(Debian: apt-get install ffmpeg)"
)


async def check_speech(settings: SpeechToText | TextToSpeech) -> str:
    """Raises BadUse with what to do."""
    how = _program(settings.command) if settings.command else await _endpoint(settings)
    if sound.ffmpeg() is None:
        raise BadUse(NO_FFMPEG)
    return f"{how}, and ffmpeg is there"


async def check_links(settings: LinkSettings) -> str:
    """Raises BadUse with what to do."""
    if settings.command:
        return _program(settings.command)
    if _missing_reader("html2text") is not None:
        raise BadUse(f"reading pages needs the extra 'documents', which is not installed: {how_to_install(EXTRA)}")
    return "pages of the public internet are read"


async def check_pictures(settings: PictureSettings) -> str:
    """Raises BadUse with what to do."""
    return _program(settings.command)


async def check_documents(settings: DocumentSettings) -> str:
    """Names what is not installed, but that is not a fault: reading such files is optional."""
    limits = (
        f"up to {in_words(settings.max_bytes)}, {settings.timeout_s:g} s and {settings.memory_mb} MB of memory for each"
    )
    if (missing := _missing_reader(*READERS)) is None:
        return f"PDF, DOCX, HTML and large pictures are read, {limits}"
    return (
        f"only plain text is read from files that people send, because {missing} is not installed; "
        f"to read PDF, DOCX and HTML too: {how_to_install(EXTRA)}"
    )


def _missing_reader(*modules: str) -> str | None:
    return next((READERS[each] for each in modules if find_spec(each) is None), None)


def _program(command: tuple[str, ...]) -> str:
    if (path := shutil.which(command[0])) is None:
        raise BadUse(f"there is no program {command[0]!r}: {_how_to_get(command[0])}")
    for argument in command[1:]:
        if argument.startswith("/") and "{" not in argument and not Path(argument).exists():
            raise BadUse(f"{path} is there, but the file {argument} in its command is not")
    return f"{path} is there"


def _how_to_get(program: str) -> str:
    if "/" in program:
        return "put it there and make it executable, or correct command"
    if program in PACKAGED:
        return f"install it (Debian: apt-get install {program}), or write its full path into command"
    return "install it, or write its full path into command"


async def _endpoint(settings: SpeechToText | TextToSpeech) -> str:
    """Asks for its models: that costs nothing, and shows whether the key is accepted."""
    url = f"{(settings.base_url or '').rstrip('/')}/models"
    headers = {} if settings.api_key is None else {"Authorization": f"Bearer {settings.api_key.reveal()}"}
    try:
        async with (
            asyncio.timeout(SECONDS),
            aiohttp.ClientSession(headers=headers) as session,
            session.get(url, allow_redirects=False) as response,
        ):
            status = response.status
    except (TimeoutError, aiohttp.ClientError, OSError, ValueError):
        raise BadUse(f"{settings.base_url}: nothing answers there; check base_url, and that it runs") from None
    if status in _REFUSED:
        raise BadUse(f"{settings.base_url}: it refuses the key (status {status}); set the right api_key")
    return f"{settings.base_url} answers"
