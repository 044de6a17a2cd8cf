"""`/v1`: any agent of the gateway, with the APIs that most tools speak. Directives are removed, nothing is stored.

| file | |
|---|---|
| `requests` | what the requests of all APIs have: an agent, a conversation, whether to stream |
| `chat_completions` `responses` `messages` | one API each, pure: reads its requests and writes its answers |
| `answering` | runs the agent for any of them: streams, logs failures, notices when a client hangs up |
"""
