"""An Agent Client Protocol agent in raw JSON-RPC that does what nobody hopes for: the prompt says what.

Run as a program. Options: `--state FILE` keeps sessions over processes, `--say-version N`, `--mute`,
`--load refuse|never|late|very-late` (late: the history comes after the answer, as gemini-cli has it; very late: amid
the next prompt), `--old` (models by session/set_model), `--noise`, `--sign-in`, `--no-effort-on MODEL` (as
claude-agent-acp has it), `--no-effort`, `--one-late` (the prompt after a cancelled one is answered with nothing, as by
claude-agent-acp 0.23), `--queues` (takes a further prompt into a running turn), `--refuse-options`.
"""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

ARGS = sys.argv[1:]
CHILD = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"


def option(name: str) -> str | None:
    return ARGS[ARGS.index(name) + 1] if name in ARGS else None


def write(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def read() -> dict[str, Any]:
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def update(session: str, update_kind: str, /, **fields: Any) -> None:
    params = {"sessionId": session, "update": {"sessionUpdate": update_kind, **fields}}
    write({"method": "session/update", "params": params})


def say(session: str, text: str, **fields: Any) -> None:
    update(session, "agent_message_chunk", content={"type": "text", "text": text}, **fields)


def ask(id: Any, method: str, params: Any) -> dict[str, Any]:
    """Sends a request and waits for its answer, passing over everything else."""
    write({"id": id, "method": method, "params": params})
    while True:
        message = read()
        if "method" not in message and message.get("id") == id:
            return message
        if message.get("method") == "session/cancel":
            WAITING.append("cancel")


STATE = Path(option("--state") or os.devnull)
SESSIONS: dict[str, list[str]] = json.loads(STATE.read_text() or "{}") if STATE.is_file() else {}
SETTINGS = {"model": "small", "effort": "low"}
WAITING: list[Any] = []
LATE: list[str] = []
REPLAYED: list[str] = []
SERVERS: list[Any] = []


def config() -> list[dict[str, Any]]:
    def select(id: str, category: str, *values: str) -> dict[str, Any]:
        options = [{"value": value, "name": value} for value in values]
        current = SETTINGS[id]
        return {"id": id, "name": id, "category": category, "type": "select", "currentValue": current,
                "options": options}  # fmt: skip

    effort = [select("effort", "thought_level", "low", "high")]
    if "--no-effort" in ARGS or SETTINGS["model"] == option("--no-effort-on"):
        effort = []
    return [select("model", "model", "small", "large"), *effort]


def offers() -> dict[str, Any]:
    if "--old" in ARGS:
        models = [{"modelId": "small", "name": "S"}, {"modelId": "large", "name": "L"}]
        return {"models": {"availableModels": models, "currentModelId": SETTINGS["model"]}}
    modes = [{"id": each, "name": each} for each in (option("--modes") or "").split(",") if each]
    told = {"modes": {"availableModes": modes, "currentModeId": modes[0]["id"]}} if modes else {}
    return {"configOptions": config(), **told}


def replay(session: str, but_last: int = 0) -> None:
    for old in SESSIONS[session][: -but_last or None]:
        update(session, "user_message_chunk", content={"type": "text", "text": old})
        say(session, f"replay of {old}\n[[reply_to:m1]]")
        update(session, "tool_call", toolCallId=f"old {old}", title="an old tool", status="completed")


def prompt(id: Any, session: str, blocks: list[dict[str, Any]]) -> None:
    if LATE:
        LATE.clear()
        write({"id": id, "result": {"stopReason": "end_turn", "usage": {"inputTokens": 0, "outputTokens": 0}}})
        return
    texts = [block.get("text", f"<{block['type']}>") for block in blocks]
    word = texts[-1]
    SESSIONS.setdefault(session, []).append(word)
    if STATE.is_file():
        STATE.write_text(json.dumps(SESSIONS))
    stop = "end_turn"
    if option("--load") == "very-late" and session not in REPLAYED:
        REPLAYED.append(session)
        replay(session, but_last=1)
        time.sleep(0.6)  # longer than the client listens for a replay
    match word.split()[0]:
        case "echoed":
            update(session, "user_message_chunk", content={"type": "text", "text": word})
            say(session, "as you say")
        case "servers":
            say(session, json.dumps(SERVERS))
        case "tools":
            update(session, "tool_call", toolCallId="t1", title="Terminal", kind="execute", status="pending")
            update(session, "tool_call_update", toolCallId="t1", title="ls -la", status="in_progress")
            text = {"type": "text", "text": "```sh\na.txt\n```"}
            update(session, "tool_call_update", toolCallId="t1", content=[{"type": "content", "content": text}])
            update(session, "tool_call_update", toolCallId="t1", status="completed")
            update(session, "tool_call", toolCallId="t2", title="cat", kind="execute", status="in_progress",
                   rawInput={"command": ["cat"]})  # fmt: skip
            update(session, "tool_call_update", toolCallId="t2", status="completed",
                   rawOutput={"formatted_output": "b.txt", "exit_code": 0})  # fmt: skip
        case "slow":
            say(session, "Let me see")
            WAITING.append((id, session))
            return
        case "and":  # said into a running turn
            say(session, f"And {word}")
            for waiting in [entry for entry in WAITING if entry[1] == session]:
                WAITING.remove(waiting)
                write({"id": waiting[0], "result": {"stopReason": "end_turn"}})
        case "deaf":
            say(session, "I hear nothing")
            while True:
                time.sleep(1)
        case "tool":
            say(session, "Looking. ", messageId="m1")
            update(session, "tool_call", toolCallId="t1", title="ls", kind="execute", status="pending")
            update(session, "tool_call_update", toolCallId="t1", status="completed",
                   content=[{"type": "content", "content": {"type": "text", "text": "a.txt"}}])  # fmt: skip
            update(session, "plan", entries=[{"content": "look", "priority": "high", "status": "completed"}])
            say(session, "Found.", messageId="m2")
            say(session, "Really.", messageId="m3")
            update(session, "tool_call", toolCallId="t2", title="open", status="in_progress")
        case "permission":
            update(session, "tool_call", toolCallId="t1", title="rm -rf /", kind="execute", status="pending")
            offered = [
                {"optionId": "always", "name": "Always", "kind": "allow_always"},
                {"optionId": "yes", "name": "Allow", "kind": "allow_once"},
                {"optionId": "no", "name": "Reject", "kind": "reject_once"},
            ]
            call = {"toolCallId": "t1", "kind": "execute"}
            params = {"sessionId": session, "toolCall": call, "options": offered}
            answer = ask("a string, not a number", "session/request_permission", params)
            say(session, json.dumps(answer["result"]["outcome"]))
            if WAITING:
                WAITING.clear()
                stop = "cancelled"
        case "unknown":
            for strange in ("s-1", 7, "1", 1):
                answer = ask(strange, "fs/read_text_file", {"sessionId": session, "path": "/etc/passwd"})
                say(session, f"{answer['id']!r}:{answer['error']['code']} ")
            write({"method": "_never/heard/of", "params": 1})
            write({"id": True, "result": {"stopReason": "refusal"}})
            write({"id": 999, "result": {}})
            update(session, "something_new", what=1)
        case "user":
            update(session, "user_message_chunk", content={"type": "text", "text": "echo of the user"})
            update(session, "agent_thought_chunk", content={"type": "text", "text": "hm"})
            update(session, "usage_update", used=12, size=100)
            say(session, "ok")
        case "flood":
            for _ in range(100):
                sys.stdout.write("x" * (1 << 20))
            sys.stdout.flush()
        case "drown":
            for number in range(30_000):
                say(session, f"{number} ")
        case "exit":
            say(session, "Half an ans")
            sys.stderr.write("panic: out of cheese\n")
            sys.stderr.flush()
            os._exit(3)
        case "exit-with-child":
            # The child holds our stdout: its end of the pipe stays open after we are gone.
            child = subprocess.Popen([sys.executable, "-c", CHILD])
            say(session, str(child.pid))
            os._exit(4)
        case "close":
            os.close(1)
            while True:
                time.sleep(1)
        case "children":
            stubborn = subprocess.Popen([sys.executable, "-c", CHILD])
            strayed = subprocess.Popen([sys.executable, "-c", CHILD], start_new_session=True)
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
            say(session, f"{os.getpid()} {stubborn.pid} {strayed.pid}")
        case "environment":
            say(session, " ".join(sorted(os.environ)))
        case "error":
            write({"id": id, "error": {"code": -32603, "message": "Rate limit reached", "data": None}})
            return
        case "settings":
            say(session, json.dumps(SETTINGS))
        case "blocks":
            say(session, json.dumps(texts))
        case "history":
            say(session, json.dumps(SESSIONS[session]))
        case _:
            for piece in word.split(" "):
                say(session, piece + " ")
    write({"id": id, "result": {"stopReason": stop, "usage": {"inputTokens": 3, "outputTokens": 2}}})


def serve(message: dict[str, Any]) -> None:
    id, params = message.get("id"), message.get("params") or {}
    session = params.get("sessionId", "")
    match message.get("method"):
        case "initialize":
            if "--mute" not in ARGS:
                version = int(option("--say-version") or 1)
                can = {
                    "loadSession": "--no-load" not in ARGS,
                    "promptCapabilities": {"image": "--images" in ARGS, "audio": "--audio" in ARGS},
                }
                if "--queues" in ARGS:
                    can["_meta"] = {"claudeCode": {"promptQueueing": True}}
                info = {"name": "fake", "version": "1"}
                ways = [{"id": "login", "name": "Log in"}]
                write({"id": id, "result": {"protocolVersion": version, "agentCapabilities": can,
                                            "agentInfo": info, "authMethods": ways}})  # fmt: skip
        case "session/new" if "--sign-in" in ARGS:
            write({"id": id, "error": {"code": -32000, "message": "Authentication required"}})
        case "session/new":
            SERVERS[:] = params["mcpServers"]
            name = f"fake-{len(SESSIONS) + 1}"
            SESSIONS[name] = []
            write({"id": id, "result": {"sessionId": name, **offers()}})
            if names := option("--announce"):
                commands = [{"name": each, "description": each} for each in names.split(",")]
                update = {"sessionUpdate": "available_commands_update", "availableCommands": commands}
                write({"method": "session/update", "params": {"sessionId": name, "update": update}})
        case "session/load":
            if option("--load") == "never":
                return
            if option("--load") == "refuse" or session not in SESSIONS:
                write({"id": id, "error": {"code": -32602, "message": "no such session"}})
                return
            SERVERS[:] = params["mcpServers"]
            if option("--load") is None:
                replay(session)
            write({"id": id, "result": offers()})
            if option("--load") == "late":
                threading.Timer(0.1, replay, [session]).start()
        case "session/set_config_option" if "--refuse-options" in ARGS:
            write({"id": id, "error": {"code": -32602, "message": "no such value"}})
        case "session/set_config_option":
            SETTINGS[params["configId"]] = params["value"]
            write({"id": id, "result": {"configOptions": config()}})
        case "session/set_model":
            SETTINGS["model"] = params["modelId"]
            write({"id": id, "result": {}})
        case "session/prompt":
            prompt(id, session, params["prompt"])
        case "session/cancel":
            if "--one-late" in ARGS:
                LATE.append(session)
            for waiting in [entry for entry in WAITING if entry[1] == session]:
                say(session, "late words of a cancelled turn")
                WAITING.remove(waiting)
                write({"id": waiting[0], "result": {"stopReason": "cancelled"}})
        case _:
            pass


if "--noise" in ARGS:
    sys.stdout.write("Welcome to fake!\n\n[1, 2]\n")
while True:
    serve(read())
