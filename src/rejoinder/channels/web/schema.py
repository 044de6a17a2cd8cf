"""The tables of the room log, and how an older one is brought up to date.

Every change is a row of `events` with an increasing number; the other tables are what the events add up to, so that
history, search and unread marks need not read them all.
"""

import sqlite3

from rejoinder.errors import StoreUnavailable

VERSION = 2

SETTINGS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",
    "PRAGMA journal_size_limit = 67108864",
    "PRAGMA trusted_schema = OFF",
)

TABLES = """
CREATE TABLE IF NOT EXISTS journal (
  id      TEXT NOT NULL,
  version INTEGER NOT NULL,
  token   TEXT,            -- the hash of the owner's login token
  taken   INTEGER NOT NULL DEFAULT 0, -- up to here the gateway surely has it
  address TEXT,            -- where people reach the page; NULL: they need no login
  agents  TEXT NOT NULL DEFAULT '[]'  -- JSON: ids that no person may have
) STRICT;

CREATE TABLE IF NOT EXISTS events (
  seq      INTEGER PRIMARY KEY,
  audience TEXT,           -- the one person who is told; NULL: everybody
  frame    TEXT,           -- as browsers get it; NULL: nothing to see
  inbound  BLOB            -- as the gateway gets it; NULL: nothing to answer
) STRICT;
CREATE INDEX IF NOT EXISTS events_inbound ON events (seq) WHERE inbound IS NOT NULL;

CREATE TABLE IF NOT EXISTS people (id TEXT PRIMARY KEY, name TEXT NOT NULL) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS rooms (
  id     TEXT PRIMARY KEY,
  kind   TEXT NOT NULL,
  title  TEXT NOT NULL,
  agents TEXT NOT NULL,    -- JSON
  person TEXT              -- whose direct chat it is
) STRICT;

CREATE TABLE IF NOT EXISTS messages (
  seq      INTEGER PRIMARY KEY,
  id       TEXT NOT NULL UNIQUE,
  room     TEXT NOT NULL,
  thread   TEXT,
  author   TEXT NOT NULL,
  at       INTEGER NOT NULL,
  text     TEXT NOT NULL,
  folded   TEXT NOT NULL,  -- the text as it is searched
  details  TEXT NOT NULL,  -- JSON: quote, files, choices, client, silent
  audience TEXT,
  only_for TEXT,
  part     TEXT UNIQUE,    -- the key under which the gateway sent it
  state    TEXT NOT NULL DEFAULT 'whole' CHECK (state = 'growing' OR state = 'interrupted' OR state = 'whole'),
  edited   INTEGER NOT NULL DEFAULT 0,
  deleted  INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX IF NOT EXISTS messages_place ON messages (room, thread, seq);
CREATE INDEX IF NOT EXISTS messages_thread ON messages (thread, seq) WHERE thread IS NOT NULL;
CREATE INDEX IF NOT EXISTS messages_growing ON messages (state) WHERE state <> 'whole';

CREATE TABLE IF NOT EXISTS reactions (
  message TEXT NOT NULL,
  emoji   TEXT NOT NULL,
  who     TEXT NOT NULL,
  seq     INTEGER NOT NULL,
  PRIMARY KEY (message, emoji, who)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS reads (
  person TEXT NOT NULL, room TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY (person, room)
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS logins (
  person TEXT PRIMARY KEY,
  name   TEXT NOT NULL,
  token  TEXT NOT NULL,    -- its hash
  made   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS files (
  id     TEXT PRIMARY KEY,
  name   TEXT NOT NULL,
  mime   TEXT NOT NULL,
  size   INTEGER NOT NULL,
  person TEXT,             -- who uploaded it; empty: somebody without a login; NULL: an agent's
  at     INTEGER NOT NULL,
  whole  INTEGER NOT NULL  -- 0 while it is being uploaded
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS files_person ON files (person, size);

CREATE TABLE IF NOT EXISTS file_pieces (
  file TEXT NOT NULL, number INTEGER NOT NULL, content BLOB NOT NULL, PRIMARY KEY (file, number)
) STRICT;

CREATE TABLE IF NOT EXISTS file_uses (   -- the messages that name a file
  file TEXT NOT NULL, message TEXT NOT NULL, PRIMARY KEY (file, message)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS file_uses_message ON file_uses (message);

CREATE TABLE IF NOT EXISTS sent_files (
  part   TEXT PRIMARY KEY,  -- the key under which the gateway had it kept
  upload TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS requests (
  person TEXT NOT NULL, client TEXT NOT NULL, result TEXT NOT NULL, PRIMARY KEY (person, client)
) STRICT, WITHOUT ROWID;
"""

_FROM_1 = """
BEGIN IMMEDIATE;
ALTER TABLE journal ADD COLUMN address TEXT;
ALTER TABLE journal ADD COLUMN agents TEXT NOT NULL DEFAULT '[]';
INSERT INTO files SELECT id, name, mime, length(content),
  CASE WHEN id IN (SELECT upload FROM sent_files) THEN NULL ELSE '' END, 0, 1 FROM uploads;
INSERT INTO file_pieces SELECT id, 0, content FROM uploads;
INSERT OR IGNORE INTO file_uses
  SELECT json_extract(file.value, '$.id'), messages.id FROM messages, json_each(messages.details, '$.files') AS file;
DROP TABLE uploads;
UPDATE journal SET version = 2;
COMMIT;
"""


def prepare(db: sqlite3.Connection, path: str) -> None:
    """Makes the tables, and brings a room log of an earlier version up to date."""
    db.executescript(TABLES)
    row = db.execute("SELECT version FROM journal").fetchone()
    if row is None or row[0] == VERSION:
        return
    if row[0] > VERSION:
        raise StoreUnavailable("newer", path)
    db.executescript(_FROM_1)
