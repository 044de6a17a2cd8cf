"""The lane of each session: the messages that wait for a turn, the turn that runs, and turns without a message.

built in      room; parts, for those who need most of it
waiting       lanes, lane, run_driver, run, turn_inputs, queueing, slots
in the store  journal, sessions, payloads, backlogs, quarantine, readmission
before a turn turn_values, briefing, fetching, thread_history, session_restorer
while it runs turn_runner, turn_parts, attempts, relay, fairness, questions, tools, thoughts, presence, speech
unprompted    compaction, requested_compaction, background, job_scheduler, home_requests
sub-agents    subagents, subagent_runs, subagent_reports
in words      prefixes, notices, unconfirmed_notice
without chat  completions
"""
