-- What heartbeats have said lately, each text as a digest, and the beginning of the keys of its parts: by these it is
-- known whether it was delivered.
CREATE TABLE said (
  job    TEXT NOT NULL,
  digest TEXT NOT NULL,
  stem   TEXT NOT NULL,
  at     INTEGER NOT NULL,
  PRIMARY KEY (job, digest)
) STRICT, WITHOUT ROWID;

CREATE INDEX said_twice ON said (digest, job);

INSERT INTO said SELECT name, said, '', said_at FROM job WHERE said <> '';

ALTER TABLE job RENAME TO job_before;

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
  CHECK ((fired IS NULL) = (event IS NULL))
) STRICT, WITHOUT ROWID;

INSERT INTO job SELECT name, schedule, anew, due, paused, wanted, fired, event, passed, reason FROM job_before;

DROP TABLE job_before;

CREATE INDEX job_twice ON job (name);
