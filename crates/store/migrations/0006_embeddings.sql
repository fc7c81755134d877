-- Derived: what messages mean, as vectors of one embedding model. Made again at any time; a message that goes
-- takes its vector along.
CREATE TABLE embeddings (
  message_id  INTEGER PRIMARY KEY REFERENCES messages(id) ON DELETE CASCADE,
  -- Vectors of two models cannot be compared.
  model       TEXT NOT NULL,
  -- A scale as a 32-bit float, then one signed byte for each dimension.
  vector      BLOB NOT NULL
) STRICT;

-- Which messages were looked at for a model: all from first_id to last_id. New rows have larger ids, so the
-- span grows at both ends until it holds everything.
CREATE TABLE embedding_spans (
  model     TEXT PRIMARY KEY,
  first_id  INTEGER NOT NULL,
  last_id   INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
