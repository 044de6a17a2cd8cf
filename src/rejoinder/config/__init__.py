"""The configuration: read whole, checked whole, before anything starts.

load.py         a file becomes Settings, or every mistake in it becomes a sentence
schema.py       the records, gathered from the rooms that read them; agents.py and channels.py what holds for all
                agents and channels, jobs.py what the clock begins, programs.py who writes and is told by HTTP;
                kinds.py finds each kind's own, default_channels.py those that are served without a section
syntax.py       TOML text to plain values; a syntax error in plain words
positions.py    on which line each key stands
environment.py  ${VAR}
reading.py      plain values to records, all mistakes at once
check.py        what no single key can know: agents that exist, zones, patterns; check_jobs.py: times that can be read;
                check_programs.py: tokens, chats and addresses of programs;
                ids.py: ids that are ids; skills.py: the folder of skills
wording.py      the nearest name, a list of choices, a key as one would type it
floors.py       the part that each floor gets
live.py         which changes of the file take effect at once, and which at the next start
overlay.py      single keys laid over the file by `/debug`
editing.py      one key of the file set or removed by `/config`, comments kept
show.py         Settings back to TOML or JSON, without secrets
describe.py     the JSON schema and the tables of the docs
"""
