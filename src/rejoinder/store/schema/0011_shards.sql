-- Who owns what (SC-1 to SC-5). A home, which is a group chat or what shares a direct session, is in one shard; who
-- holds the lease on a shard alone decides, runs turns and sends for its homes. There is one shard in a file.
CREATE TABLE shard (
  id          INTEGER PRIMARY KEY,
  holder      TEXT,
  generation  INTEGER NOT NULL,
  lease_until INTEGER
) STRICT;

-- Held by a process that has ended: what it left under way is suspected as before.
INSERT INTO shard VALUES (0, 'an earlier version', 0, 0);

-- The processes that hold leases, or want to. `under_way`: how much of what one left behind when it died has been found.
CREATE TABLE process (
  name        TEXT PRIMARY KEY,
  lease_until INTEGER,
  under_way   INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE INDEX process_twice ON process (name);

-- Pinned when first written.
ALTER TABLE place ADD COLUMN home TEXT NOT NULL DEFAULT '';
ALTER TABLE place ADD COLUMN shard INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN home TEXT NOT NULL DEFAULT '';
ALTER TABLE session ADD COLUMN shard INTEGER NOT NULL DEFAULT 0;
ALTER TABLE inbox ADD COLUMN shard INTEGER NOT NULL DEFAULT 0;
ALTER TABLE turn_input ADD COLUMN shard INTEGER NOT NULL DEFAULT 0;
ALTER TABLE turn ADD COLUMN shard INTEGER NOT NULL DEFAULT 0;
ALTER TABLE part ADD COLUMN shard INTEGER NOT NULL DEFAULT 0;
ALTER TABLE message ADD COLUMN shard INTEGER NOT NULL DEFAULT 0;

UPDATE session SET home = session_home(key);
-- What a job said in a chat does not make the chat part of the job's home.
UPDATE place SET home = coalesce(
  (SELECT session_home(turn.session) FROM turn
   WHERE turn.place = place.id AND turn.session NOT LIKE '%:cron:%' LIMIT 1),
  route_home(channel, account, chat));

-- A run and a part under way belong to the lease of their shard and have none of their own.
ALTER TABLE run DROP COLUMN lease_until;

PRAGMA writable_schema = ON;

UPDATE sqlite_schema SET sql = replace(sql, 'CHECK ((state = ''sending'') = (lease_until IS NOT NULL)),
  ', '')
WHERE type = 'table' AND name = 'part';

PRAGMA writable_schema = RESET;

ALTER TABLE part DROP COLUMN lease_until;
