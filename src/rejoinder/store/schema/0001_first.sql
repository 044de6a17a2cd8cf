-- Times are microseconds since 1970, UTC. A `body` is four bytes of CRC-32 and then JSON or the very bytes that
-- were given: damage inside it is noticed when it is read. Every key stands in two trees, so that damage in one
-- is noticed by the other; that is what the indexes called `twice` are for. The invariants of the gateway are
-- constraints, so that a bug is an error here and not a lost message.

-- One row: the last generation drawn by an opening or a claim.
CREATE TABLE gateway (
  one        INTEGER PRIMARY KEY CHECK (one = 1),
  generation INTEGER NOT NULL
) STRICT;

INSERT INTO gateway VALUES (1, 0);

-- Every event a platform delivered, once: the only deduplication there is.
CREATE TABLE inbox (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  channel  TEXT NOT NULL,
  account  TEXT NOT NULL,
  event    TEXT NOT NULL,
  message  TEXT NOT NULL,
  sender   TEXT NOT NULL,
  accepted INTEGER NOT NULL,
  state    TEXT NOT NULL DEFAULT 'new' CHECK (state IN ('new', 'routed', 'settled', 'quarantined')),
  reason   TEXT NOT NULL DEFAULT '',
  attempts INTEGER NOT NULL DEFAULT 0,
  body     BLOB NOT NULL,
  UNIQUE (channel, account, event)
) STRICT;

CREATE INDEX inbox_new ON inbox (id) WHERE state = 'new';
CREATE INDEX inbox_message ON inbox (message);

-- How far each platform, and each job, has been read: written with the inbox rows it stands for.
CREATE TABLE cursor (
  channel TEXT NOT NULL,
  account TEXT NOT NULL,
  name    TEXT NOT NULL,
  body    BLOB NOT NULL,
  PRIMARY KEY (channel, account, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX cursor_twice ON cursor (name, account, channel);

-- A conversation: one place of one platform. No thread is the empty thread.
CREATE TABLE place (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,
  channel   TEXT NOT NULL,
  account   TEXT NOT NULL,
  chat      TEXT NOT NULL,
  thread    TEXT NOT NULL,
  handles   INTEGER NOT NULL DEFAULT 0,
  owned     INTEGER NOT NULL DEFAULT 0,
  posted    INTEGER NOT NULL DEFAULT 0,
  other_bot INTEGER NOT NULL DEFAULT 0,
  bot_turns INTEGER NOT NULL DEFAULT 0,
  bot_day   INTEGER NOT NULL DEFAULT 0,
  bot_today INTEGER NOT NULL DEFAULT 0,
  UNIQUE (channel, account, chat, thread)
) STRICT;

-- One question to one agent, with the place its answer goes to.
CREATE TABLE turn (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,
  session  TEXT NOT NULL,
  place    INTEGER NOT NULL REFERENCES place (id),
  state    TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'answered', 'closed', 'quarantined')),
  attempts INTEGER NOT NULL DEFAULT 1 CHECK (attempts >= 0),
  opened   INTEGER NOT NULL,
  closed   INTEGER,
  heard    INTEGER NOT NULL DEFAULT 0,
  outcome  TEXT CHECK (outcome IN ('answered', 'silent', 'failed', 'stopped', 'dropped')),
  detail   TEXT NOT NULL DEFAULT '',
  body     BLOB NOT NULL,
  CHECK ((state IN ('closed', 'quarantined')) = (closed IS NOT NULL)),
  CHECK ((state = 'closed') = (outcome IS NOT NULL))
) STRICT;

CREATE INDEX turn_open ON turn (id) WHERE state IN ('open', 'answered');
CREATE INDEX turn_session ON turn (session, place);
CREATE INDEX turn_place ON turn (place, opened);
CREATE INDEX turn_closed ON turn (closed) WHERE closed IS NOT NULL;

-- An event in a session it was routed to: at most once in each, in at most one of its turns.
CREATE TABLE turn_input (
  event   INTEGER NOT NULL REFERENCES inbox (id),
  session TEXT NOT NULL,
  state   TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'taken', 'steered', 'summarised', 'dropped')),
  turn    INTEGER REFERENCES turn (id),
  reason  TEXT NOT NULL DEFAULT '',
  body    BLOB NOT NULL,
  PRIMARY KEY (event, session),
  CHECK (state NOT IN ('taken', 'steered') OR turn IS NOT NULL),
  CHECK (state NOT IN ('waiting', 'dropped') OR turn IS NULL)
) STRICT, WITHOUT ROWID;

CREATE INDEX turn_input_untold ON turn_input (session, event) WHERE turn IS NULL AND state IN ('waiting', 'summarised');
CREATE INDEX turn_input_turn ON turn_input (turn) WHERE turn IS NOT NULL;

-- The active run of a session: its primary key is why there is at most one.
CREATE TABLE run (
  session     TEXT PRIMARY KEY,
  turn        INTEGER NOT NULL UNIQUE REFERENCES turn (id),
  generation  INTEGER NOT NULL,
  lease_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The outbox: what is to be said, in order, each part with frozen bytes under a key of its own.
CREATE TABLE part (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  turn        INTEGER REFERENCES turn (id),
  place       INTEGER NOT NULL REFERENCES place (id),
  key         TEXT NOT NULL UNIQUE,
  kind        TEXT NOT NULL,
  state       TEXT NOT NULL DEFAULT 'planned'
    CHECK (state IN ('planned', 'claimed', 'sending', 'sent', 'unknown', 'retry', 'held', 'dead', 'withdrawn')),
  generation  INTEGER NOT NULL DEFAULT 0,
  lease_until INTEGER,
  attempts    INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  planned     INTEGER NOT NULL,
  retry_at    INTEGER,
  receipt     TEXT,
  error       TEXT NOT NULL DEFAULT '',
  body        BLOB NOT NULL,
  CHECK ((state IN ('claimed', 'sending')) = (lease_until IS NOT NULL)),
  CHECK ((state = 'retry') = (retry_at IS NOT NULL)),
  CHECK (receipt IS NULL OR state = 'sent')
) STRICT;

CREATE INDEX part_in_flight ON part (place, id) WHERE state IN ('planned', 'claimed', 'sending', 'unknown', 'retry');
CREATE INDEX part_unended ON part (state, id)
  WHERE state IN ('planned', 'claimed', 'sending', 'unknown', 'retry', 'held', 'dead');
CREATE INDEX part_leased ON part (lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX part_turn ON part (turn) WHERE turn IS NOT NULL;

CREATE TRIGGER part_is_frozen BEFORE UPDATE OF turn, place, key, kind, body ON part
BEGIN
  SELECT RAISE (ABORT, 'a planned part never changes; a changed rendering needs a new key');
END;

-- The message index: who is not in it cannot be replied to or reacted to.
CREATE TABLE message (
  place  INTEGER NOT NULL REFERENCES place (id),
  id     TEXT NOT NULL,
  number INTEGER NOT NULL CHECK (number > 0),
  kind   TEXT NOT NULL CHECK (kind IN ('human', 'bot', 'own', 'system')),
  body   BLOB NOT NULL,
  PRIMARY KEY (place, id),
  UNIQUE (place, number)
) STRICT, WITHOUT ROWID;

-- What each session remembers between messages; a change names the version it was made from.
CREATE TABLE session (
  key     TEXT PRIMARY KEY,
  version INTEGER NOT NULL CHECK (version > 0),
  touched INTEGER NOT NULL,
  body    BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX session_touched ON session (touched);

-- The agent's own name for a session, to continue it after a restart.
CREATE TABLE agent_session (
  session TEXT PRIMARY KEY,
  body    BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX agent_session_twice ON agent_session (session);

-- What each agent was told and answered. A reset starts later, it deletes nothing.
CREATE TABLE transcript (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  session TEXT NOT NULL,
  at      INTEGER NOT NULL,
  body    BLOB NOT NULL
) STRICT;

CREATE INDEX transcript_session ON transcript (session, at, id);

-- What was decided about each event on its way, for `rejoinder explain`.
CREATE TABLE trace (
  id    INTEGER PRIMARY KEY AUTOINCREMENT,
  event INTEGER NOT NULL REFERENCES inbox (id),
  at    INTEGER NOT NULL,
  body  BLOB NOT NULL
) STRICT;

CREATE INDEX trace_event ON trace (event, id);
CREATE INDEX trace_at ON trace (at);

-- Pairing codes that wait for an owner, one for each stranger.
CREATE TABLE knock (
  channel TEXT NOT NULL,
  account TEXT NOT NULL,
  sender  TEXT NOT NULL,
  code    TEXT NOT NULL UNIQUE,
  asked   INTEGER NOT NULL,
  told    INTEGER NOT NULL,
  expires INTEGER NOT NULL,
  PRIMARY KEY (channel, account, sender)
) STRICT, WITHOUT ROWID;

-- People an owner has let in.
CREATE TABLE paired (
  channel TEXT NOT NULL,
  account TEXT NOT NULL,
  sender  TEXT NOT NULL,
  since   INTEGER NOT NULL,
  PRIMARY KEY (channel, account, sender)
) STRICT, WITHOUT ROWID;

CREATE INDEX paired_twice ON paired (sender, account, channel);
