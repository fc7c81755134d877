-- Known secrets are masked in what the journal keeps. This is the hash of what went before that was done: a text that
-- has another one is not what stood in the file, and is never written into it.
ALTER TABLE journal ADD COLUMN before_sha256 TEXT;
