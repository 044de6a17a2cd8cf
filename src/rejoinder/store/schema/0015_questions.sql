-- What agents have asked people in turns that are not over (CH-10): who may answer, and the answer. A turn that runs
-- again finds what it has asked before, under the id that its buttons carry.
CREATE TABLE question (
  id      TEXT PRIMARY KEY,
  turn    INTEGER NOT NULL,
  shard   INTEGER NOT NULL,
  state   TEXT NOT NULL CHECK (state = 'open' OR state = 'answered' OR state = 'over'),
  asked   INTEGER NOT NULL,
  body    BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX question_open ON question (turn) WHERE state = 'open' OR state = 'answered';
CREATE INDEX question_asked ON question (asked);
