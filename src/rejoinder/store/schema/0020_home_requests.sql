-- What the owner of a chat asks of the owner of a session that lives in another home (SC-1, SC-12): an answer to its
-- question, the end of its run, what became of its words. It is removed by the commit that carries it out.
CREATE TABLE home_request (
  id      INTEGER PRIMARY KEY,
  session TEXT NOT NULL,
  shard   INTEGER NOT NULL,
  body    BLOB NOT NULL
) STRICT;

CREATE INDEX home_request_shard ON home_request (shard, id);
