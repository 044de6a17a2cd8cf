"""Shows an agent's answer in a conversation, and does what the agent asks for.

its text       words, delivery, drafting, length, heartbeats; unposted, for a sub-agent
its requests   acting, files, speaking, handoff, reach, and their outcomes
"""
