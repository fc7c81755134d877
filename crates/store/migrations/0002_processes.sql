-- Processes that run in the background.
CREATE TABLE processes (
  id           TEXT PRIMARY KEY,
  -- The conversation that started it; stays when that is deleted, because the process does.
  session_id   TEXT NOT NULL,
  command      TEXT NOT NULL,
  directory    TEXT NOT NULL,
  -- Where it runs: `host`, or a backend and which one.
  place        TEXT NOT NULL,
  -- The program that follows it, as something that can be looked up.
  owner        TEXT NOT NULL,
  -- Its first process on this machine, once it runs: id, start in clock ticks since boot, and which boot.
  pid          INTEGER,
  pid_started  INTEGER,
  boot         TEXT,
  log          TEXT NOT NULL,
  notify       INTEGER NOT NULL,
  started_at   REAL NOT NULL,
  ended_at     REAL,
  exit_code    INTEGER,
  -- Why it ended, in one word.
  reason       TEXT
) STRICT;

CREATE INDEX processes_running ON processes(started_at) WHERE ended_at IS NULL;

-- What conversations have to hear about their processes. A row is there before anybody is told, and
-- acknowledged by whoever passed it on.
CREATE TABLE process_events (
  id               INTEGER PRIMARY KEY AUTOINCREMENT,
  process_id       TEXT NOT NULL REFERENCES processes(id) ON DELETE CASCADE,
  session_id       TEXT NOT NULL,
  kind             TEXT NOT NULL,
  -- What the conversation is told, as JSON.
  body             TEXT NOT NULL,
  created_at       REAL NOT NULL,
  acknowledged_at  REAL
) STRICT;

CREATE INDEX process_events_open ON process_events(session_id, id) WHERE acknowledged_at IS NULL;
CREATE INDEX process_events_by_process ON process_events(process_id);
