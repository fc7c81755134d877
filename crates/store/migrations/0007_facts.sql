-- Single facts the agent keeps in a memory of its own, each with how far it is to be believed.
CREATE TABLE facts (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  content     TEXT NOT NULL UNIQUE,
  category    TEXT NOT NULL,
  -- Words given along with it, separated by spaces.
  tags        TEXT NOT NULL,
  -- From 0 to 1; what falls below a floor is not recalled.
  trust       REAL NOT NULL,
  -- How often it was recalled, and how often that helped.
  recalled    INTEGER NOT NULL DEFAULT 0,
  helpful     INTEGER NOT NULL DEFAULT 0,
  created_at  REAL NOT NULL,
  updated_at  REAL NOT NULL
) STRICT;

-- Whom or what a fact is about, in the spelling searches compare.
CREATE TABLE fact_entities (
  entity   TEXT NOT NULL,
  fact_id  INTEGER NOT NULL REFERENCES facts(id) ON DELETE CASCADE,
  PRIMARY KEY (entity, fact_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX fact_entities_by_fact ON fact_entities (fact_id);

-- Derived: words of facts, as our own code cuts them.
CREATE VIRTUAL TABLE facts_search USING fts5(
  terms, content='', contentless_delete=1, tokenize='ascii'
);

-- What an external memory is still to be told. A row is written before an answer counts as finished and goes
-- when the service has taken it.
CREATE TABLE memory_deliveries (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  -- The name of the external memory.
  provider    TEXT NOT NULL,
  body        TEXT NOT NULL,
  created_at  REAL NOT NULL,
  -- Set before it is sent: a row that has it was perhaps sent by a process that ended.
  begun_at    REAL,
  attempts    INTEGER NOT NULL DEFAULT 0
) STRICT;

CREATE INDEX memory_deliveries_by_provider ON memory_deliveries (provider, id);

-- What an external memory was told once and for all, such as the files of an earlier time.
CREATE TABLE memory_marks (
  name  TEXT PRIMARY KEY,
  at    REAL NOT NULL
) STRICT, WITHOUT ROWID;
