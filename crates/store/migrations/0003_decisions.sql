-- Who allowed or refused what. Rows outlive their session: they answer for what was done.
CREATE TABLE decisions (
  id INTEGER PRIMARY KEY,
  session_id TEXT NOT NULL,
  call_id TEXT NOT NULL,
  at REAL NOT NULL,
  tool TEXT NOT NULL,
  action TEXT NOT NULL,
  place TEXT NOT NULL,
  categories TEXT NOT NULL,
  outcome TEXT NOT NULL,
  decided_by TEXT NOT NULL,
  reason TEXT NOT NULL
) STRICT;
CREATE INDEX decisions_by_session ON decisions (session_id, id);
