-- Every change to what the agent learned, so that each can be looked at and taken back. Rows are only added;
-- a change that was taken back keeps its row and says when.
CREATE TABLE journal (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  at REAL NOT NULL,
  -- Who made the change: foreground, background_review, curator or user.
  origin TEXT NOT NULL,
  -- The conversation it was made in, by its id: it may be deleted by now.
  session_id TEXT,
  -- What was changed: memory, user, skill:NAME.
  subject TEXT NOT NULL,
  path TEXT,
  before TEXT,
  after TEXT,
  summary TEXT NOT NULL,
  undone_at REAL
) STRICT;

CREATE INDEX journal_by_subject ON journal (subject, id);
