-- Jobs of the clock: when each is due next, and what became of its last tick. An empty schedule is to be read anew.
CREATE TABLE job (
  name     TEXT PRIMARY KEY,
  schedule TEXT NOT NULL DEFAULT '',
  due      INTEGER,
  paused   INTEGER NOT NULL DEFAULT 0 CHECK (paused = 0 OR paused = 1),
  wanted   INTEGER NOT NULL DEFAULT 0 CHECK (wanted = 0 OR wanted = 1),
  fired    INTEGER,
  event    INTEGER,
  passed   INTEGER,
  reason   TEXT NOT NULL DEFAULT '',
  said     TEXT NOT NULL DEFAULT '',
  said_at  INTEGER,
  CHECK ((fired IS NULL) = (event IS NULL)),
  CHECK ((said = '') = (said_at IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX job_twice ON job (name);
