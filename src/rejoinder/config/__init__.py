"""The configuration: read whole, checked whole, before anything starts.

load.py         a file becomes Settings, or every mistake in it becomes a sentence
schema.py       the records, gathered from the rooms that read them; agents.py and channels.py hold the keys of all
                agents and channels, jobs.py scheduled turns, programs.py the programs that use HTTP; kinds.py finds
                the declaration of each kind, default_channels.py the channels that are served without a section
syntax.py       TOML text to plain values; a syntax error in plain words
positions.py    the line of each key
environment.py  ${VAR}
reading.py      plain values to records, all mistakes at once
check.py        checks that need more than one key: agents that exist, zones, patterns; check_jobs.py: readable times;
                check_programs.py: tokens, chats and addresses of programs;
                ids.py: ids that are ids; skills.py: the folder of skills
wording.py      the nearest name, a list of choices, a key as one would type it
floors.py       the settings that each floor gets
live.py         which changes of the file take effect at once, and which at the next start
overlay.py      single keys that `/debug` lays over the file
editing.py      sets or removes one key of the file for `/config`, and keeps comments
show.py         Settings back to TOML or JSON, without secrets
describe.py     the JSON schema and the tables of the docs
"""
