"""Shows an agent's answer in a conversation, and does what the agent asks for.

its text       answer_sink, options, delivery, growing_text, drafting, answer_finisher, length, heartbeats;
               unposted, for a sub-agent
its requests   context: what it answers; directive_runner; directive_effects; action_log: each action once;
               shaped_reply, files and file_requests, speaking, handoffs and handoff_row, reach
"""
