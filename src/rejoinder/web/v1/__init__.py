"""`/v1`: any agent of the gateway behind the APIs that most tools speak. Directives are stripped, nothing is kept.

| file | |
|---|---|
| `requests` | what every API asks for: which agent, which conversation, streamed or not |
| `chat_completions` `responses` `messages` | one API each, pure: how its request is read and its answer written |
| `answering` | runs the agent for any of them: streams, logs failures, notices who hangs up |
"""
