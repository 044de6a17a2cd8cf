"""The work behind the shell commands, as functions that Python can call, too: a gateway put to use.

`cli` reads the command line and prints; the work is done here: `serving` (run; `page_serving` and `page_services` if
there is a page), `one_conversation` (chat, and `get_reply`), `sending` (send), `store_moves` (store), `doctor`,
`measuring` (bench), `demo` (run --demo). `agent_choice` picks the agent if none was chosen; `reloading` and
`debug_settings` change the settings of a running gateway. `incoming` takes messages from other programs, `outgoing`
posts events to them, signed by `webhook_signatures`. `tools` are the tools that agents may call, and `tool_bridge`
(mcp) brings them to agents without HTTP; `python_worker` is the process of an isolated python agent. `event_loop` and
`interpreter` set up a process that serves for long.
"""
