"""Shows an agent's answer in a conversation, and does what the agent asks for.

its text       delivery, drafting, length, heartbeats
its requests   acting, files, handoff, reach, and their outcomes
"""
