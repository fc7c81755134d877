-- What is remembered about MCP servers between runs. All of it can be asked for again.

-- The tools of a server as last listed, so that they can be offered before it is connected.
CREATE TABLE mcp_catalogs (
  server TEXT PRIMARY KEY,
  settings TEXT NOT NULL,
  body TEXT NOT NULL,
  listed_at REAL NOT NULL
) STRICT;

-- What each tool said about itself when it was last seen.
CREATE TABLE mcp_pins (
  server TEXT NOT NULL,
  tool TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  seen_at REAL NOT NULL,
  PRIMARY KEY (server, tool)
) STRICT;

-- What was found out about packages that servers are started from.
CREATE TABLE mcp_verdicts (
  package TEXT PRIMARY KEY,
  verdict TEXT NOT NULL,
  found_at REAL NOT NULL
) STRICT;
