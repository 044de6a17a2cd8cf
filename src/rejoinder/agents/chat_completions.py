"""The chat completions API: how to ask, and how to read the streamed answer. Several agent kinds use it."""

import base64
from typing import Any

from msgspec import Raw, Struct

from rejoinder.agents.base import MAX_ANSWER_CHARS, AgentEvent, Done, TextDelta, Thought, ToolEnded, ToolStarted, Usage
from rejoinder.agents.endpoint import decoded, no_answer, reads, stopped_in_the_middle
from rejoinder.agents.failures import RunFailed, failed_stream
from rejoinder.agents.history import BoundedText
from rejoinder.agents.model_agent import ModelAgent, end_of_answer
from rejoinder.agents.settings import EndpointSettings
from rejoinder.agents.thinking_levels import Setting, Ways
from rejoinder.events import PromptAudio, PromptImage, PromptPart, PromptText, Turn
from rejoinder.secret import Secret

EFFORTS: dict[str, tuple[str, ...]] = {
    "off": (),
    "minimal": ("minimal", "low"),
    "low": ("low",),
    "medium": ("medium",),
    "high": ("high",),
    "xhigh": ("xhigh", "high"),
}
"""The values of `reasoning_effort` for each level of `/think`, best first."""
WAYS: Ways = {level: tuple({"reasoning_effort": word} for word in words) for level, words in EFFORTS.items()}


class ChatAgent(ModelAgent):
    thinking = WAYS

    def __init__(self, name: str, settings: EndpointSettings, key: Secret | None, *, hears_audio: bool = False) -> None:
        super().__init__(name, settings, key, "/chat/completions", _authorisation)
        self._settings = settings
        self.hears_audio = hears_audio

    def _content(self, parts: tuple[PromptPart, ...]) -> str | list[dict[str, Any]]:
        """A plain string where there is only text: many endpoints accept nothing else."""
        texts = [part.text for part in parts if isinstance(part, PromptText)]
        if len(texts) == len(parts):
            return "\n\n".join(texts)
        return [_part(part) for part in parts]

    def _request(
        self, turn: Turn, model: str, messages: list[Raw], thinking: Setting, options: Setting
    ) -> dict[str, Any]:
        system = turn.system or self._settings.system_prompt
        return {
            "model": model,
            "messages": [{"role": "system", "content": system}, *messages] if system else messages,
            "stream": True,
            "stream_options": {"include_usage": True},
            **options,
            **thinking,
        }

    def _reading(self, secret: str) -> "ChatReading":
        return ChatReading(secret, self._settings.max_answer_chars)


def _authorisation(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


_SOUNDS = {"audio/wav": "wav", "audio/mpeg": "mp3"}


def _part(part: PromptPart) -> dict[str, Any]:
    match part:
        case PromptText(text):
            return {"type": "text", "text": text}
        case PromptImage(mime, data):
            url = f"data:{mime};base64,{base64.b64encode(data).decode()}"
            return {"type": "image_url", "image_url": {"url": url}}
        case PromptAudio(mime, data) if mime in _SOUNDS:
            sound = {"data": base64.b64encode(data).decode(), "format": _SOUNDS[mime]}
            return {"type": "input_audio", "input_audio": sound}
        case PromptAudio(mime):
            return {"type": "text", "text": f"[A recording ({mime}) that could not be converted for you.]"}


_STOP: dict[str, Done] = {"length": Done("limit"), "content_filter": Done("refused")}


class _Part(Struct, frozen=True):
    text: str | None = None
    thinking: list["_Part"] | None = None


class _Function(Struct, frozen=True):
    name: str | None = None


class _Call(Struct, frozen=True):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class _Said(Struct, frozen=True):
    """Providers agree neither on where thoughts go nor on whether text is a string."""

    content: str | list[_Part] | None = None
    refusal: str | None = None
    reasoning_content: Any = None  # DeepSeek, vLLM
    reasoning: Any = None  # OpenRouter, Ollama
    tool_calls: list[_Call] | None = None

    def text(self) -> str:
        if isinstance(self.content, list):  # Mistral: a list of parts that may include thoughts
            return _joined(self.content)
        return self.content or self.refusal or ""

    def thought(self) -> str:
        said = self.reasoning_content or self.reasoning
        if said and isinstance(said, str):
            return said
        return "".join(_joined(part.thinking) for part in self.content) if isinstance(self.content, list) else ""


_NOTHING = _Said()


class _Choice(Struct, frozen=True):
    delta: _Said | None = None
    message: _Said | None = None
    finish_reason: str | None = None


class _Usage(Struct, frozen=True):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Chunk(Struct, frozen=True):
    choices: list[_Choice] | None = None
    usage: _Usage | None = None
    error: Any = None
    object: str | None = None
    message: Any = None  # the message of an unwrapped error, as vLLM sends it
    code: Any = None


_CHUNK = reads(_Chunk)


def _joined(parts: list[_Part] | None) -> str:
    return "".join(part.text or "" for part in parts or ())


class ChatReading:
    def __init__(self, secret: str = "", most: int = MAX_ANSWER_CHARS) -> None:
        self.complete = False
        self._secret = secret
        self._said = BoundedText(most)
        self._tools: dict[int | str, str] = {}
        self._stop: str | None = None

    @property
    def answer(self) -> str:
        return str(self._said)

    def feed(self, data: str) -> list[AgentEvent]:
        if data.strip() == "[DONE]":
            self.complete = True
            return []
        return self._take(decoded(data, _CHUNK))

    def whole(self, data: bytes) -> list[AgentEvent]:
        answer = decoded(data, _CHUNK)
        events = self._take(answer)
        if not answer.choices:
            raise no_answer("it has no choices", data)
        self.complete = True
        return events

    def finish(self) -> list[AgentEvent]:
        # Some endpoints give a finish reason but never send [DONE].
        if self._stop is None and not self.complete:
            raise stopped_in_the_middle()
        wanted = self._stop in ("tool_calls", "function_call")
        done = _STOP.get(self._stop or "", Done())
        return end_of_answer(self, list(self._tools.values()), wanted=wanted, done=done)

    def _take(self, chunk: _Chunk) -> list[AgentEvent]:
        if chunk.error:
            raise RunFailed(failed_stream(chunk.error, self._secret))
        if chunk.object == "error":
            raise RunFailed(failed_stream({"code": chunk.code, "message": chunk.message}, self._secret))
        events: list[AgentEvent] = []
        for choice in chunk.choices or ():
            said = choice.delta or choice.message or _NOTHING
            if thought := said.thought():
                events.append(Thought(thought))
            if text := said.text():
                # A tool call followed by text was run by the endpoint, and has ended.
                if self._tools:
                    events += [ToolEnded(id, True) for id in self._tools.values()]
                    self._tools.clear()
                self._said.add(text)
                events.append(TextDelta(text))
            if said.tool_calls:
                for call in said.tool_calls:
                    events += self._tool(call)
            self._stop = choice.finish_reason or self._stop
        if chunk.usage is not None:
            spent = chunk.usage.prompt_tokens or 0, chunk.usage.completion_tokens or 0
            events.append(Usage(*spent, context_tokens=sum(spent)))
        return events

    def _tool(self, call: _Call) -> list[AgentEvent]:
        name = call.function.name if call.function is not None else None
        # Gemini gives no index: it sends each call whole, under its own id.
        which = call.index if call.index is not None else call.id or name or ""
        if which in self._tools or not name:
            return []
        self._tools[which] = call.id or f"call-{len(self._tools)}"
        return [ToolStarted(self._tools[which], name)]
