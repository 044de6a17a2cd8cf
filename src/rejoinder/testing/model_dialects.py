"""The streaming formats of four APIs. A dialect writes one streamed answer, as bytes to send."""

from typing import Any, ClassVar

import msgspec


def _data(document: dict[str, Any], event: str | None = None) -> bytes:
    name = b"" if event is None else b"event: " + event.encode() + b"\n"
    return name + b"data: " + msgspec.json.encode(document) + b"\n\n"


def _last_text(messages: list[dict[str, Any]], kinds: tuple[str, ...]) -> str:
    for message in reversed(messages):
        if message.get("role") == "user":
            content = message.get("content")
            if isinstance(content, str):
                return content
            return "\n\n".join(part["text"] for part in content or () if part.get("type") in kinds)
    return ""


class Dialect:
    def __init__(self, model: str) -> None:
        self.model = model
        self.said: list[str] = []

    @staticmethod
    def asked(body: dict[str, Any]) -> str:
        raise NotImplementedError

    @staticmethod
    def whole(model: str, text: str, thought: str) -> dict[str, Any]:
        raise NotImplementedError

    @staticmethod
    def refusal(code: str, message: str) -> dict[str, Any]:
        return {"error": {"type": code, "code": code, "message": message}}

    def start(self) -> bytes:
        raise NotImplementedError

    def thought(self, text: str) -> bytes:
        raise NotImplementedError

    def tool(self, name: str, arguments: str) -> bytes:
        raise NotImplementedError

    def text(self, text: str) -> bytes:
        raise NotImplementedError

    def end(self, stop: str) -> bytes:
        raise NotImplementedError

    def error(self, code: str, message: str) -> bytes:
        return _data(self.refusal(code, message))


class ChatCompletions(Dialect):
    _STOP: ClassVar = {"stop": "stop", "tool": "tool_calls"}

    @staticmethod
    def asked(body: dict[str, Any]) -> str:
        return _last_text(body.get("messages") or [], ("text",))

    @staticmethod
    def whole(model: str, text: str, thought: str) -> dict[str, Any]:
        message = {"role": "assistant", "content": text, "reasoning_content": thought}
        return {
            "object": "chat.completion",
            "model": model,
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 7, "completion_tokens": 3},
        }

    def _chunk(self, delta: dict[str, Any], stop: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": stop}
        return _data({"object": "chat.completion.chunk", "model": self.model, "choices": [choice]})

    def start(self) -> bytes:
        return self._chunk({"role": "assistant", "content": ""})

    def thought(self, text: str) -> bytes:
        return self._chunk({"reasoning_content": text})

    def tool(self, name: str, arguments: str) -> bytes:
        call = {"index": 0, "id": "call_1", "type": "function", "function": {"name": name, "arguments": ""}}
        return self._chunk({"tool_calls": [call]}) + self._chunk(
            {"tool_calls": [{"index": 0, "function": {"arguments": arguments}}]}
        )

    def text(self, text: str) -> bytes:
        return self._chunk({"content": text})

    def end(self, stop: str) -> bytes:
        usage = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
        last: dict[str, Any] = {"object": "chat.completion.chunk", "model": self.model, "choices": [], "usage": usage}
        return self._chunk({}, self._STOP[stop]) + _data(last) + b"data: [DONE]\n\n"


class Responses(Dialect):
    """OpenAI's responses, as far as coding agents read them."""

    @staticmethod
    def asked(body: dict[str, Any]) -> str:
        given = body.get("input")
        return given if isinstance(given, str) else _last_text(given or [], ("input_text",))

    @staticmethod
    def whole(model: str, text: str, thought: str) -> dict[str, Any]:
        usage = {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10}
        content: list[dict[str, Any]] = [{"type": "output_text", "text": text, "annotations": []}]
        message = {"type": "message", "id": "msg_1", "role": "assistant", "content": content}
        return {"id": "resp_1", "status": "completed", "model": model, "output": [message], "usage": usage}

    def _event(self, kind: str, **fields: Any) -> bytes:
        return _data({"type": kind, **fields}, kind)

    def start(self) -> bytes:
        response: dict[str, Any] = {"id": "resp_1", "status": "in_progress", "model": self.model, "output": []}
        item: dict[str, Any] = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}
        return self._event("response.created", response=response) + self._event(
            "response.output_item.added", output_index=0, item=item
        )

    def thought(self, text: str) -> bytes:
        return self._event("response.reasoning_summary_text.delta", item_id="rs_1", summary_index=0, delta=text)

    def tool(self, name: str, arguments: str) -> bytes:
        item = {
            "type": "function_call",
            "id": "fc_1",
            "call_id": "call_1",
            "name": name,
            "arguments": arguments,
        }
        return self._event("response.output_item.done", output_index=1, item=item)

    def text(self, text: str) -> bytes:
        self.said.append(text)
        return self._event("response.output_text.delta", item_id="msg_1", output_index=0, content_index=0, delta=text)

    def end(self, stop: str) -> bytes:
        response = self.whole(self.model, "".join(self.said), "")
        done = b""
        if self.said:
            done = self._event("response.output_item.done", output_index=0, item=response["output"][0])
        return done + self._event("response.completed", response=response)

    def error(self, code: str, message: str) -> bytes:
        response = {"id": "resp_1", "status": "failed", "error": {"code": code, "message": message}}
        return self._event("response.failed", response=response)


class Messages(Dialect):
    _STOP: ClassVar = {"stop": "end_turn", "tool": "tool_use"}

    def __init__(self, model: str) -> None:
        super().__init__(model)
        self._index = -1
        self._open: str | None = None

    @staticmethod
    def asked(body: dict[str, Any]) -> str:
        return _last_text(body.get("messages") or [], ("text",))

    @staticmethod
    def whole(model: str, text: str, thought: str) -> dict[str, Any]:
        return {
            "type": "message",
            "id": "msg_1",
            "role": "assistant",
            "model": model,
            "content": [{"type": "text", "text": text}],
            "stop_reason": "end_turn",
            "usage": {"input_tokens": 7, "output_tokens": 3},
        }

    @staticmethod
    def refusal(code: str, message: str) -> dict[str, Any]:
        return {"type": "error", "error": {"type": code, "message": message}}

    def _event(self, kind: str, **fields: Any) -> bytes:
        return _data({"type": kind, **fields}, kind)

    def _block(self, kind: str, block: dict[str, Any]) -> bytes:
        """Blocks follow one another: a new kind closes the one before."""
        if self._open == kind:
            return b""
        closed = self._close()
        self._index += 1
        self._open = kind
        return closed + self._event("content_block_start", index=self._index, content_block=block)

    def _close(self) -> bytes:
        if self._open is None:
            return b""
        self._open = None
        return self._event("content_block_stop", index=self._index)

    def _delta(self, **delta: Any) -> bytes:
        return self._event("content_block_delta", index=self._index, delta=delta)

    def start(self) -> bytes:
        message: dict[str, Any] = {**self.whole(self.model, "", ""), "content": [], "stop_reason": None}
        return self._event("message_start", message=message) + self._event("ping")

    def thought(self, text: str) -> bytes:
        opened = self._block("thinking", {"type": "thinking", "thinking": ""})
        return opened + self._delta(type="thinking_delta", thinking=text)

    def tool(self, name: str, arguments: str) -> bytes:
        opened = self._block("tool_use", {"type": "tool_use", "id": "toolu_1", "name": name, "input": {}})
        return opened + self._delta(type="input_json_delta", partial_json=arguments)

    def text(self, text: str) -> bytes:
        opened = self._block("text", {"type": "text", "text": ""})
        return opened + self._delta(type="text_delta", text=text)

    def end(self, stop: str) -> bytes:
        ended = {"stop_reason": self._STOP[stop], "stop_sequence": None}
        return (
            self._close()
            + self._event("message_delta", delta=ended, usage={"output_tokens": 3})
            + self._event("message_stop")
        )

    def error(self, code: str, message: str) -> bytes:
        return _data(self.refusal(code, message), "error")


class GenerateContent(Dialect):
    """Google's API, as far as its own command line reads it; the model is in the path."""

    _STOP: ClassVar = {"stop": "STOP", "tool": "STOP"}

    @staticmethod
    def asked(body: dict[str, Any]) -> str:
        for content in reversed(body.get("contents") or []):
            texts = [part["text"] for part in content.get("parts") or () if "text" in part]
            if content.get("role") == "user" and texts:
                return "\n\n".join(texts)
        return ""

    @staticmethod
    def whole(model: str, text: str, thought: str) -> dict[str, Any]:
        usage = {"promptTokenCount": 7, "candidatesTokenCount": 3, "totalTokenCount": 10}
        content: dict[str, Any] = {"role": "model", "parts": [{"text": text}]}
        return {
            "candidates": [{"index": 0, "content": content, "finishReason": "STOP"}],
            "usageMetadata": usage,
            "modelVersion": model,
        }

    @staticmethod
    def refusal(code: str, message: str) -> dict[str, Any]:
        return {"error": {"code": 400, "status": code, "message": message}}

    def _chunk(self, *parts: dict[str, Any], stop: str | None = None) -> bytes:
        candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": list(parts)}}
        if stop is None:
            return _data({"candidates": [candidate], "modelVersion": self.model})
        usage = {"promptTokenCount": 7, "candidatesTokenCount": 3, "totalTokenCount": 10}
        return _data({"candidates": [{**candidate, "finishReason": stop}], "usageMetadata": usage})

    def start(self) -> bytes:
        return b""

    def thought(self, text: str) -> bytes:
        return self._chunk({"text": text, "thought": True})

    def tool(self, name: str, arguments: str) -> bytes:
        return self._chunk({"functionCall": {"name": name, "args": msgspec.json.decode(arguments)}})

    def text(self, text: str) -> bytes:
        return self._chunk({"text": text})

    def end(self, stop: str) -> bytes:
        return self._chunk({"text": ""}, stop=self._STOP[stop])


GOOGLE = "/v1beta/models"
DIALECTS: dict[str, type[Dialect]] = {
    "/v1/chat/completions": ChatCompletions,
    "/v1/responses": Responses,
    "/v1/messages": Messages,
    GOOGLE: GenerateContent,
}
