-- A page shows the runs beside its chat, so they are found by the chat they work for.
ALTER TABLE subagent ADD COLUMN channel TEXT NOT NULL DEFAULT '';
ALTER TABLE subagent ADD COLUMN chat TEXT NOT NULL DEFAULT '';
CREATE INDEX subagent_chat ON subagent (channel, chat, started);
