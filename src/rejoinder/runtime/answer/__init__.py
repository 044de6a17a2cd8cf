"""What an agent says becomes what a conversation shows, and what it asks for is done.

its words     delivery, drafting, heartbeats
its wishes    acting, files, handoff, and their outcomes
"""
