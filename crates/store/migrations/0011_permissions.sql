-- Questions of sessions that wait for a yes or a no, where other processes see and answer them. A row is open while
-- nobody answered and the session waits: its time is not over and it said so lately, which a killed one does not.
CREATE TABLE permissions (
  -- Chosen by the session, which can so take back what is not written yet.
  id          INTEGER PRIMARY KEY,
  session_id  TEXT NOT NULL,
  -- What is to be done, and every reason why that is asked, one a line.
  action      TEXT NOT NULL,
  reasons     TEXT NOT NULL,
  -- How far a yes may reach: once, session, always.
  reach       TEXT NOT NULL,
  asked_at    REAL NOT NULL,
  until       REAL NOT NULL,
  -- When the session last said that it waits.
  waited_at   REAL NOT NULL,
  -- What another process said and who that was, for the session to take.
  answer      TEXT,
  answered_by TEXT,
  -- What the session heard at last, wherever it came from.
  outcome     TEXT
) STRICT;
