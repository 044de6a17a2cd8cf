-- Files that rows name: uploads, and what agents send. The body has its name and kind; `key` is what a sender keeps it
-- under, `owner` whose quota it counts against, `unnamed` the time since which no row names it.
CREATE TABLE blob (
  id      TEXT PRIMARY KEY,
  key     TEXT UNIQUE,
  owner   TEXT,
  size    INTEGER NOT NULL CHECK (size >= 0),
  whole   INTEGER NOT NULL DEFAULT 0,
  unnamed INTEGER,
  body    BLOB NOT NULL
) STRICT;

CREATE INDEX blob_owner ON blob (owner, size) WHERE owner IS NOT NULL;
CREATE INDEX blob_unnamed ON blob (unnamed) WHERE unnamed IS NOT NULL;

-- The bytes of a blob in order, each chunk in a commit of its own.
CREATE TABLE blob_chunk (
  blob   TEXT NOT NULL REFERENCES blob (id),
  number INTEGER NOT NULL CHECK (number >= 0),
  body   BLOB NOT NULL,
  PRIMARY KEY (blob, number)
) STRICT;

-- Which rows name a blob: a part by `part/` and its key, others as they like.
CREATE TABLE blob_use (
  blob     TEXT NOT NULL REFERENCES blob (id),
  named_by TEXT NOT NULL,
  PRIMARY KEY (blob, named_by)
) STRICT, WITHOUT ROWID;

CREATE INDEX blob_use_named_by ON blob_use (named_by, blob);
