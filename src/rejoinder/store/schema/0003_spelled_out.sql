-- What each message had to pay for and nobody had asked for.
--
-- A list of three or more, as in `state IN ('a', 'b', 'c')`, SQLite makes into a table, for every row and every
-- constraint and index that has one: a part was sent in half the time without. So conditions are spelled out. A
-- constraint cannot be altered, and copying every table for the spelling would take long where there is much: the text
-- is changed where it stands, as SQLite's documentation allows for what does not change the rows.
PRAGMA writable_schema = ON;

UPDATE sqlite_schema SET sql = replace(sql,
  'CHECK (state IN (''new'', ''routed'', ''settled'', ''quarantined''))',
  'CHECK (state = ''new'' OR state = ''routed'' OR state = ''settled'' OR state = ''quarantined'')')
WHERE type = 'table' AND name = 'inbox';

UPDATE sqlite_schema SET sql = replace(sql,
  'CHECK (state IN (''open'', ''answered'', ''closed'', ''quarantined''))',
  'CHECK (state = ''open'' OR state = ''answered'' OR state = ''closed'' OR state = ''quarantined'')')
WHERE type = 'table' AND name = 'turn';

UPDATE sqlite_schema SET sql = replace(sql,
  'CHECK (outcome IN (''answered'', ''silent'', ''failed'', ''stopped'', ''dropped''))',
  'CHECK (outcome = ''answered'' OR outcome = ''silent'' OR outcome = ''failed'' OR outcome = ''stopped'' OR outcome = ''dropped'')')
WHERE type = 'table' AND name = 'turn';

UPDATE sqlite_schema SET sql = replace(sql,
  'CHECK (state IN (''waiting'', ''taken'', ''steered'', ''summarised'', ''dropped''))',
  'CHECK (state = ''waiting'' OR state = ''taken'' OR state = ''steered'' OR state = ''summarised'' OR state = ''dropped'')')
WHERE type = 'table' AND name = 'turn_input';

UPDATE sqlite_schema SET sql = replace(sql,
  'CHECK (state IN (''planned'', ''claimed'', ''sending'', ''sent'', ''unknown'', ''retry'', ''held'', ''dead'', ''withdrawn''))',
  'CHECK (state = ''planned'' OR state = ''claimed'' OR state = ''sending'' OR state = ''sent'' OR state = ''unknown'' OR state = ''retry'' OR state = ''held'' OR state = ''dead'' OR state = ''withdrawn'')')
WHERE type = 'table' AND name = 'part';

UPDATE sqlite_schema SET sql = replace(sql,
  'CHECK (kind IN (''human'', ''bot'', ''own'', ''system''))',
  'CHECK (kind = ''human'' OR kind = ''bot'' OR kind = ''own'' OR kind = ''system'')')
WHERE type = 'table' AND name = 'message';

PRAGMA writable_schema = RESET;

DROP INDEX part_in_flight;
CREATE INDEX part_in_flight ON part (place, id)
  WHERE state = 'planned' OR state = 'claimed' OR state = 'sending' OR state = 'unknown' OR state = 'retry';

DROP INDEX part_unended;
CREATE INDEX part_unended ON part (state, id)
  WHERE state = 'planned' OR state = 'claimed' OR state = 'sending' OR state = 'unknown' OR state = 'retry'
    OR state = 'held' OR state = 'dead';

-- Claims are few, and the lowest numbers are the oldest traces.
DROP INDEX part_leased;
DROP INDEX trace_at;
