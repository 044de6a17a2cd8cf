-- What was read back out of sentences has columns of its own: which parts of a message were given up for it to be
-- taken, and which events agents have only overheard.
ALTER TABLE part ADD COLUMN conceded TEXT NOT NULL DEFAULT '';
UPDATE part SET
  conceded = trim(
    CASE WHEN error LIKE '%[without formatting]%' THEN 'formatting' ELSE '' END
    || CASE WHEN error LIKE '%[without message]%' THEN ' message' ELSE '' END
    || CASE WHEN error LIKE '%[without target]%' THEN ' target' ELSE '' END),
  error = replace(replace(replace(error, '[without formatting] ', ''), '[without message] ', ''), '[without target] ', '')
WHERE error LIKE '[without %';
ALTER TABLE inbox ADD COLUMN overheard INTEGER NOT NULL DEFAULT 0 CHECK (overheard = 0 OR overheard = 1);
UPDATE inbox SET overheard = 1 WHERE state = 'settled' AND reason LIKE 'overheard%';
