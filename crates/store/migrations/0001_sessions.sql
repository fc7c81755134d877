-- Column names follow the reference's state.db where the meaning is the same, so that scripts written
-- for it keep working. Times are seconds since 1970 as REAL.

CREATE TABLE sessions (
  id                  TEXT PRIMARY KEY,
  source              TEXT NOT NULL,
  user_id             TEXT,
  session_key         TEXT,
  chat_id             TEXT,
  chat_type           TEXT,
  thread_id           TEXT,
  display_name        TEXT,
  parent_session_id   TEXT REFERENCES sessions(id) ON DELETE SET NULL,
  -- What a child is to its parent: compaction, branch or delegate.
  relation            TEXT,
  title               TEXT,
  model               TEXT,
  model_config        TEXT,
  system_prompt_hash  TEXT REFERENCES texts(hash),
  cwd                 TEXT,
  git_branch          TEXT,
  git_repo_root       TEXT,
  started_at          REAL NOT NULL,
  ended_at            REAL,
  end_reason          TEXT,
  last_active_at      REAL NOT NULL,
  archived            INTEGER NOT NULL DEFAULT 0,
  rewind_count        INTEGER NOT NULL DEFAULT 0,
  message_count       INTEGER NOT NULL DEFAULT 0,
  tool_call_count     INTEGER NOT NULL DEFAULT 0,
  api_call_count      INTEGER NOT NULL DEFAULT 0,
  input_tokens        INTEGER NOT NULL DEFAULT 0,
  output_tokens       INTEGER NOT NULL DEFAULT 0,
  cache_read_tokens   INTEGER NOT NULL DEFAULT 0,
  cache_write_tokens  INTEGER NOT NULL DEFAULT 0,
  reasoning_tokens    INTEGER NOT NULL DEFAULT 0,
  billing_provider    TEXT,
  billing_base_url    TEXT,
  billing_mode        TEXT,
  estimated_cost_usd  REAL,
  actual_cost_usd     REAL,
  cost_status         TEXT,
  cost_source         TEXT,
  pricing_version     TEXT,
  -- What shortening the conversation has to remember, as JSON.
  compaction          TEXT,
  -- What an imported session carried that has no column here, as JSON.
  extra               TEXT,
  import_id           INTEGER REFERENCES imports(id)
) STRICT;

CREATE INDEX sessions_by_activity ON sessions(last_active_at DESC);
CREATE INDEX sessions_by_parent ON sessions(parent_session_id) WHERE parent_session_id IS NOT NULL;
CREATE INDEX sessions_by_source ON sessions(source, started_at DESC);
CREATE UNIQUE INDEX sessions_by_title ON sessions(title) WHERE title IS NOT NULL;

CREATE TABLE messages (
  id                   INTEGER PRIMARY KEY AUTOINCREMENT,
  session_id           TEXT NOT NULL REFERENCES sessions(id) ON DELETE CASCADE,
  role                 TEXT NOT NULL,
  -- The plain text of the message: what is shown and searched.
  content              TEXT,
  -- The parts as JSON, only where they say more than content and tool_calls do.
  parts                TEXT,
  tool_call_id         TEXT,
  tool_calls           TEXT,
  tool_name            TEXT,
  timestamp            REAL NOT NULL,
  token_count          INTEGER,
  finish_reason        TEXT,
  reasoning            TEXT,
  -- The provider's own form of the turn as JSON.
  raw                  TEXT,
  platform_message_id  TEXT,
  -- (1,0) in the conversation, (0,1) compacted away, (0,0) taken back.
  active               INTEGER NOT NULL DEFAULT 1,
  compacted            INTEGER NOT NULL DEFAULT 0,
  extra                TEXT,
  imported_id          INTEGER
) STRICT;

CREATE INDEX messages_by_session ON messages(session_id, id);
CREATE INDEX messages_by_platform_id ON messages(session_id, platform_message_id)
  WHERE platform_message_id IS NOT NULL;

-- System prompts and other large texts that many sessions share.
CREATE TABLE texts (
  hash  TEXT PRIMARY KEY,
  body  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Which messages need which file of the blob folder.
CREATE TABLE message_blobs (
  message_id  INTEGER NOT NULL REFERENCES messages(id) ON DELETE CASCADE,
  hash        TEXT NOT NULL,
  PRIMARY KEY (message_id, hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX message_blobs_by_hash ON message_blobs(hash);

-- One row for each model call; rows from an import may stand for several.
CREATE TABLE model_calls (
  id                  INTEGER PRIMARY KEY,
  session_id          TEXT REFERENCES sessions(id) ON DELETE CASCADE,
  -- Empty for the conversation itself, else the helper task.
  task                TEXT NOT NULL DEFAULT '',
  model               TEXT NOT NULL,
  billing_provider    TEXT NOT NULL DEFAULT '',
  billing_base_url    TEXT NOT NULL DEFAULT '',
  billing_mode        TEXT NOT NULL DEFAULT '',
  calls               INTEGER NOT NULL DEFAULT 1,
  input_tokens        INTEGER NOT NULL DEFAULT 0,
  output_tokens       INTEGER NOT NULL DEFAULT 0,
  cache_read_tokens   INTEGER NOT NULL DEFAULT 0,
  cache_write_tokens  INTEGER NOT NULL DEFAULT 0,
  reasoning_tokens    INTEGER NOT NULL DEFAULT 0,
  estimated_cost_usd  REAL,
  actual_cost_usd     REAL,
  cost_status         TEXT,
  cost_source         TEXT,
  pricing_version     TEXT,
  started_at          REAL NOT NULL,
  ended_at            REAL,
  outcome             TEXT,
  import_id           INTEGER REFERENCES imports(id)
) STRICT;
CREATE INDEX model_calls_by_session ON model_calls(session_id);
CREATE INDEX model_calls_by_time ON model_calls(started_at);

-- Databases of the reference that were read, and how far.
CREATE TABLE imports (
  id               INTEGER PRIMARY KEY,
  path             TEXT NOT NULL UNIQUE,
  schema_version   INTEGER NOT NULL,
  last_message_id  INTEGER NOT NULL DEFAULT 0,
  -- Sizes and times of the files when the last complete import began.
  signature        TEXT,
  finished_at      REAL
) STRICT;

-- For each imported session, what it looked like at the last import. A session that was deleted here
-- keeps its row, without a session_id, so that it does not come back.
CREATE TABLE imported_sessions (
  import_id    INTEGER NOT NULL REFERENCES imports(id) ON DELETE CASCADE,
  original_id  TEXT NOT NULL,
  session_id   TEXT REFERENCES sessions(id) ON DELETE SET NULL,
  fingerprint  TEXT NOT NULL,
  PRIMARY KEY (import_id, original_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE meta (
  key    TEXT PRIMARY KEY,
  value  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Work that only one process does at a time, and until when that holds.
CREATE TABLE leases (
  name        TEXT PRIMARY KEY,
  holder      TEXT NOT NULL,
  expires_at  REAL NOT NULL
) STRICT, WITHOUT ROWID;

-- Derived: words of messages, and hashes of words side by side. No text is kept and no positions; both are
-- read from messages again.
CREATE VIRTUAL TABLE search USING fts5(
  terms, content='', contentless_delete=1, detail='none', tokenize='ascii'
);
