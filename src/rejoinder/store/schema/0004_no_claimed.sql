-- A part is claimed and under way in one step: no row was ever seen in between.
UPDATE part SET state = 'planned', lease_until = NULL WHERE state = 'claimed';

PRAGMA writable_schema = ON;

UPDATE sqlite_schema SET sql = replace(replace(sql,
  'state = ''planned'' OR state = ''claimed'' OR ', 'state = ''planned'' OR '),
  '(state IN (''claimed'', ''sending''))', '(state = ''sending'')')
WHERE type = 'table' AND name = 'part';

PRAGMA writable_schema = RESET;

DROP INDEX part_in_flight;
CREATE INDEX part_in_flight ON part (place, id)
  WHERE state = 'planned' OR state = 'sending' OR state = 'unknown' OR state = 'retry';

DROP INDEX part_unended;
CREATE INDEX part_unended ON part (state, id)
  WHERE state = 'planned' OR state = 'sending' OR state = 'unknown' OR state = 'retry'
    OR state = 'held' OR state = 'dead';
