"""What the commands of the command line do, as functions that Python can call too: a gateway put to use.

`cli` reads the words and prints; here is what happens between: `serving` (run; `page_serving` and
`page_services` where there is a page), `one_conversation` (chat, and
`get_reply`), `sending` (send), `store_moves` (store), `doctor`, `measuring` (bench), `demo` (run --demo).
`agent_choice` picks the agent where none was chosen; `reloading` and `debug_settings` change the settings of a gateway
at work. `incoming` takes what other programs say, `outgoing` tells them what happens, signed by `webhook_signatures`.
`tools` are what agents may call, and `tool_bridge` (mcp) brings them to agents without HTTP; `python_worker` is the
process of an isolated python agent. `event_loop` and `interpreter` set up a process that serves for long.
"""
