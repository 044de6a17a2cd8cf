-- How often the process died while this was under way, and how often while nothing else was: only that is evidence.
ALTER TABLE turn ADD COLUMN crashes INTEGER NOT NULL DEFAULT 0;
ALTER TABLE turn ADD COLUMN alone INTEGER NOT NULL DEFAULT 0;
ALTER TABLE inbox ADD COLUMN trying INTEGER NOT NULL DEFAULT 0;
ALTER TABLE inbox ADD COLUMN alone INTEGER NOT NULL DEFAULT 0;

-- What somebody wants to be run again, though it is quarantined.
ALTER TABLE turn ADD COLUMN wanted INTEGER NOT NULL DEFAULT 0;
ALTER TABLE inbox ADD COLUMN wanted INTEGER NOT NULL DEFAULT 0;
CREATE INDEX turn_wanted ON turn (id) WHERE wanted = 1;
CREATE INDEX inbox_wanted ON inbox (id) WHERE wanted = 1;
