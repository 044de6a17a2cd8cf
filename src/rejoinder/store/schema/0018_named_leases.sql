-- What one process does for all of them, each under a lease of its name: listening to an account of a channel, telling
-- programs over HTTP, removing what is old (SC-10).
CREATE TABLE named_lease (
  name        TEXT PRIMARY KEY,
  holder      TEXT,
  generation  INTEGER NOT NULL,
  lease_until INTEGER
) STRICT, WITHOUT ROWID;

-- Whether a process claims shards: one that only listens and serves pages does not (SC-24).
ALTER TABLE process ADD COLUMN claims INTEGER NOT NULL DEFAULT 1;
