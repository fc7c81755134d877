-- What somebody said to a conversation and what has not become part of it yet. A row is there before anybody is told
-- that it waits, and goes in the step that writes the message it becomes.
CREATE TABLE inbox (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id  TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
  -- message: begins a turn of its own; remark: was meant for the turn that was under way.
  kind        TEXT NOT NULL,
  -- What is said, with media by their hashes, as JSON.
  body        TEXT NOT NULL,
  created_at  REAL NOT NULL
) STRICT;

CREATE INDEX inbox_by_session ON inbox(session_id, id);
