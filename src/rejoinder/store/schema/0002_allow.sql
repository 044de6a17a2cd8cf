-- Who was put on or taken off a channel's allow-list since it was configured, in the order in which that was done.
CREATE TABLE allow_edit (
  id      INTEGER PRIMARY KEY AUTOINCREMENT,
  channel TEXT NOT NULL,
  entry   TEXT NOT NULL,
  listed  INTEGER NOT NULL CHECK (listed IN (0, 1)),
  UNIQUE (channel, entry)
) STRICT;
