-- A table with AUTOINCREMENT writes its last number down with every row. The numbers of events and turns, which other rows
-- name, the gateway draws itself: it writes the last ones down, in `sqlite_sequence` as before, when it removes rows.
-- Those of traces, transcripts and parts say which came first; one may come again when the newest row was removed, but no
-- row names them, and a part that waits for the operator is never removed.
PRAGMA writable_schema = ON;

UPDATE sqlite_schema SET sql = replace(sql, ' AUTOINCREMENT', '')
WHERE type = 'table' AND (name = 'inbox' OR name = 'turn' OR name = 'part' OR name = 'transcript' OR name = 'trace');

PRAGMA writable_schema = RESET;
