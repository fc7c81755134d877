-- How far what was said in all conversations was looked back on, by what it was read for. What counts towards
-- the next look back is the rows behind a mark, so nothing else has to be kept and nothing is counted twice.
CREATE TABLE learning_marks (
  -- memory or skills.
  kind  TEXT PRIMARY KEY,
  -- The last message that was read, and when the newest was said: rows that are only copied get larger ids and
  -- keep their time.
  row   INTEGER NOT NULL,
  at    REAL NOT NULL
) STRICT, WITHOUT ROWID;

-- What is older than this table was said before anybody counted. Without a mark everything counts.
INSERT INTO learning_marks (kind, row, at)
SELECT kind, max(id), max(timestamp) FROM messages, (SELECT 'memory' AS kind UNION ALL SELECT 'skills')
GROUP BY kind;
