"""The offers of `rejoinder init` for voice, with the sections that each writes (ME-1, ME-2). Pure except for
`which`."""

import shutil
from typing import Any

from msgspec import Struct

HEARS, SPEAKS = "media.speech_to_text", "media.text_to_speech"
SERVICE = {"base_url": "https://api.openai.com/v1", "api_key": "${OPENAI_API_KEY}"}
WHISPER = ["whisper-cli", "-m", "/models/ggml-base.bin", "-nt", "-np", "-f", "{file}"]
SPEAKERS: dict[str, list[str]] = {
    "flite": ["flite", "-voice", "slt", "-f", "{text}", "-o", "{file}"],
    "espeak-ng": ["espeak-ng", "-f", "{text}", "-w", "{file}"],
}
CHANNEL = {"tts": "inbound"}
"""The keys for each channel's section: voice is answered by voice."""


class VoiceOffer(Struct, frozen=True):
    title: str
    sections: dict[str, dict[str, Any]] = {}


def voice_offers() -> tuple[VoiceOffer, ...]:
    """No voice comes first: it is off unless somebody wants it. Of the programs that speak, the first installed one is
    offered."""
    speaker = next((command for name, command in SPEAKERS.items() if shutil.which(name)), SPEAKERS["flite"])
    return (
        VoiceOffer("no"),
        VoiceOffer("by a service with a key (OpenAI or compatible)", {HEARS: dict(SERVICE), SPEAKS: dict(SERVICE)}),
        VoiceOffer(
            f"by programs on this machine (whisper-cli hears, {speaker[0]} speaks)",
            {HEARS: {"command": WHISPER}, SPEAKS: {"command": speaker}},
        ),
    )
