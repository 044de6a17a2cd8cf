-- Runs that a session started beside its own: whose they are, whether they are at work, and whether their end was told.
CREATE TABLE subagent (
  session TEXT PRIMARY KEY,
  root    TEXT NOT NULL,
  shard   INTEGER NOT NULL,
  state   TEXT NOT NULL CHECK (state = 'running' OR state = 'ended' OR state = 'failed' OR state = 'killed'),
  told    INTEGER NOT NULL CHECK (told = 0 OR told = 1),
  started INTEGER NOT NULL,
  body    BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX subagent_root ON subagent (root, started);
CREATE INDEX subagent_open ON subagent (state) WHERE state = 'running' OR told = 0;
CREATE INDEX subagent_started ON subagent (started);
