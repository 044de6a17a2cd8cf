-- What programs are to be told over HTTP: each event of a hook once, with its body until it is taken or given up.
CREATE TABLE hook_event (
  id       INTEGER PRIMARY KEY,
  hook     TEXT NOT NULL,
  event    TEXT NOT NULL,
  name     TEXT NOT NULL,
  made     INTEGER NOT NULL,
  due      INTEGER NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  state    TEXT NOT NULL DEFAULT 'waiting' CHECK (state = 'waiting' OR state = 'taken' OR state = 'dead'),
  error    TEXT NOT NULL DEFAULT '',
  body     BLOB NOT NULL,
  UNIQUE (hook, event)
) STRICT;

CREATE INDEX hook_event_waiting ON hook_event (hook, id) WHERE state = 'waiting';
