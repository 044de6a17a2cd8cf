-- A log of rooms, by the name of its channel: its last number, and an id that a copy does not share.
CREATE TABLE room_log (
  name TEXT PRIMARY KEY,
  id   TEXT NOT NULL,
  seq  INTEGER NOT NULL DEFAULT 0
) STRICT;

-- The rooms of a log in the order in which they were made; `person` is the only one who sees it.
CREATE TABLE room (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  log    TEXT NOT NULL REFERENCES room_log (name),
  id     TEXT NOT NULL,
  person TEXT,
  body   BLOB NOT NULL,
  UNIQUE (log, id)
) STRICT;

-- The messages of rooms as they are now. No thread is the empty thread; `words` is what a search looks through.
CREATE TABLE room_entry (
  number   INTEGER PRIMARY KEY AUTOINCREMENT,
  log      TEXT NOT NULL REFERENCES room_log (name),
  seq      INTEGER NOT NULL,
  id       TEXT NOT NULL,
  room     TEXT NOT NULL,
  thread   TEXT NOT NULL,
  author   TEXT NOT NULL,
  at       INTEGER NOT NULL,
  words    TEXT NOT NULL,
  audience TEXT,
  private  INTEGER NOT NULL,
  counted  INTEGER NOT NULL,
  answers  TEXT NOT NULL,
  key      TEXT,
  state    TEXT NOT NULL
    CHECK (state = 'growing' OR state = 'interrupted' OR state = 'whole' OR state = 'deleted'),
  version  INTEGER NOT NULL CHECK (version > 0),
  body     BLOB NOT NULL,
  UNIQUE (log, id),
  UNIQUE (log, seq),
  UNIQUE (log, key)
) STRICT;

CREATE INDEX room_entry_place ON room_entry (log, room, thread, seq);
CREATE INDEX room_entry_room ON room_entry (log, room, seq);
CREATE INDEX room_entry_thread ON room_entry (log, thread, seq) WHERE thread <> '';
CREATE INDEX room_entry_answers ON room_entry (log, answers) WHERE answers <> '';
CREATE INDEX room_entry_growing ON room_entry (log, seq) WHERE state = 'growing';

-- What happened in a log, in order, as those who follow it are told; `audience` is the one person who is.
CREATE TABLE room_event (
  log      TEXT NOT NULL REFERENCES room_log (name),
  seq      INTEGER NOT NULL,
  audience TEXT,
  body     BLOB NOT NULL,
  PRIMARY KEY (log, seq)
) STRICT;

-- How far each person has read each room.
CREATE TABLE room_mark (
  log    TEXT NOT NULL REFERENCES room_log (name),
  person TEXT NOT NULL,
  room   TEXT NOT NULL,
  seq    INTEGER NOT NULL,
  PRIMARY KEY (log, person, room)
) STRICT;

-- Small things that an edge keeps, by scope and key: people, logins, requests that are done once.
CREATE TABLE fact (
  scope TEXT NOT NULL,
  key   TEXT NOT NULL,
  body  BLOB NOT NULL,
  PRIMARY KEY (scope, key)
) STRICT;
