"""Edge: who answers. An agent kind is one file; its name is its registration.

the kinds    acp, openai, anthropic, http, python, local, scripted, tour
for all      base: the contract; guard enforces it; failures, settings; discover: when no agent was chosen
of python    python_call, python_process, python_wire, further
of acp       acp_sessions, acp_connection, acp_wire, acp_permissions; process, jsonrpc, lines
of models    model_agent, chat_completions, endpoint, profiles, sse, history, wording, think
of the demo  cast, cast_lines
"""
