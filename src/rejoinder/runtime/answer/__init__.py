"""Shows an agent's answer in a conversation, and does what the agent asks for.

its text       answer_sink, options, delivery, growing_text, drafting, settling, length, heartbeats;
               unposted, for a sub-agent
its requests   context: what it answers; acting: each directive; action_log: each action once, and its outcomes;
               reply_shape, files and file_requests, speaking, handoffs and handoff_row, reach
"""
