-- Jobs of the clock: when each is due next, and what became of its last tick. One without a schedule is no longer
-- configured; of one with `anew` the next tick is to be found, as if it had never been seen.
CREATE TABLE job (
  name     TEXT PRIMARY KEY,
  schedule TEXT NOT NULL,
  anew     INTEGER NOT NULL DEFAULT 0 CHECK (anew = 0 OR anew = 1),
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
