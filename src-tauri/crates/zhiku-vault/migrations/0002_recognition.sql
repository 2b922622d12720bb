-- Words that were recognised in pictures or sound: how sure the recogniser was, and when each stretch of them is said.
ALTER TABLE units ADD COLUMN confidence REAL;
ALTER TABLE units ADD COLUMN timing BLOB;

-- What came inside another document (an attachment, a member of an archive, a picture on a page). `parent_key` is what it came
-- in; `root_key` the outermost container, whose rights are its rights. `embedded` marks pictures of a page, which no list shows.
ALTER TABLE documents ADD COLUMN parent_key INTEGER REFERENCES documents (key);
ALTER TABLE documents ADD COLUMN root_key INTEGER REFERENCES documents (key);
ALTER TABLE documents ADD COLUMN embedded INTEGER NOT NULL DEFAULT 0;
CREATE INDEX documents_parent ON documents (parent_key) WHERE parent_key IS NOT NULL;

-- Lower goes first: text, then scans, then sound and video.
ALTER TABLE jobs ADD COLUMN priority INTEGER NOT NULL DEFAULT 0;
DROP INDEX jobs_state;
CREATE INDEX jobs_state ON jobs (state, priority, key);

-- Folders whose files are taken in as they come and change.
CREATE TABLE watched_folders (
    path TEXT PRIMARY KEY,
    profile_id BLOB NOT NULL,
    ignore TEXT NOT NULL DEFAULT '[]',
    added_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
