-- A table with AUTOINCREMENT writes its last number down with every row. The numbers of traces, transcripts and parts say
-- only which came first, and those of events and turns the gateway draws itself: it writes the last ones down, in
-- `sqlite_sequence` as before, when it removes rows.
PRAGMA writable_schema = ON;

UPDATE sqlite_schema SET sql = replace(sql, ' AUTOINCREMENT', '')
WHERE type = 'table' AND (name = 'inbox' OR name = 'turn' OR name = 'part' OR name = 'transcript' OR name = 'trace');

PRAGMA writable_schema = RESET;
