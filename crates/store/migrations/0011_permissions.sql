-- Questions of sessions that wait for a yes or a no, where other processes see and answer them. A row is open while
-- nobody answered, the session waits and its time is not over, which it is at last when the process was killed.
CREATE TABLE permissions (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id  TEXT NOT NULL,
  -- What is to be done, and every reason why that is asked, one a line.
  action      TEXT NOT NULL,
  reasons     TEXT NOT NULL,
  -- How far a yes may reach: once, session, always.
  reach       TEXT NOT NULL,
  asked_at    REAL NOT NULL,
  until       REAL NOT NULL,
  -- What another process said and who that was, for the session to take.
  answer      TEXT,
  answered_by TEXT,
  -- What the session heard at last, wherever it came from.
  outcome     TEXT
) STRICT;
