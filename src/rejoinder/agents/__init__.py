"""Edge: the agents that answer. An agent kind is a file or folder with a declaration, `AGENT`, found by its name.

the kinds    acp, openai, anthropic, http, python, local, scripted, tour
for all      base: the contract; guard enforces it; declaration: its form; failures, settings; steering_offers
             discover: when no agent was chosen
processes    process, jsonrpc, lines
models       model_agent, chat_completions, endpoint, profiles, sse, history, wording, thinking_levels
of the demo  cast, cast_lines
"""
