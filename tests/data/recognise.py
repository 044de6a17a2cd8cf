"""Prints the words in a WAV of 16 kHz, recognised by pocketsphinx, whose model comes with its package."""

import sys
import wave

from pocketsphinx import Decoder

with wave.open(sys.argv[1]) as recording:
    assert (recording.getframerate(), recording.getnchannels()) == (16000, 1)
    samples = recording.readframes(recording.getnframes())
decoder = Decoder(samprate=16000, loglevel="FATAL")
decoder.start_utt()
decoder.process_raw(samples, full_utt=True)
decoder.end_utt()
found = decoder.hyp()
print(found.hypstr if found else "")
