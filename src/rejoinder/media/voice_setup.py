"""What `rejoinder init` offers for voice: each offer is the sections it writes (ME-1, ME-2). Pure but for `which`."""

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
"""What each channel's section gets: voice is answered by voice."""


class VoiceOffer(Struct, frozen=True):
    title: str
    sections: dict[str, dict[str, Any]] = {}


def voice_offers() -> tuple[VoiceOffer, ...]:
    """None first: voice is off unless somebody wants it. Of the programs that speak, the first that is here."""
    speaker = next((command for name, command in SPEAKERS.items() if shutil.which(name)), SPEAKERS["flite"])
    return (
        VoiceOffer("no"),
        VoiceOffer("by a service with a key (OpenAI or compatible)", {HEARS: dict(SERVICE), SPEAKS: dict(SERVICE)}),
        VoiceOffer(
            f"by programs on this machine (whisper-cli hears, {speaker[0]} speaks)",
            {HEARS: {"command": WHISPER}, SPEAKS: {"command": speaker}},
        ),
    )
