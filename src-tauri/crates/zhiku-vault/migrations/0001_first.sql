-- Ids are 16-byte UUIDv7 blobs, times UTC milliseconds. `key` columns are row numbers that never leave the vault and,
-- being AUTOINCREMENT, are never given twice: derived stores refer to them.

CREATE TABLE vault_meta (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE members (
    profile_id BLOB PRIMARY KEY,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    added_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE departments (
    department_id BLOB PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
) STRICT, WITHOUT ROWID;

CREATE TABLE member_departments (
    profile_id BLOB NOT NULL REFERENCES members (profile_id) ON DELETE CASCADE,
    department_id BLOB NOT NULL REFERENCES departments (department_id) ON DELETE CASCADE,
    PRIMARY KEY (profile_id, department_id)
) STRICT, WITHOUT ROWID;

-- A removed document keeps its row as a tombstone without title: deleted_ms hides it at once, erased_ms says that nothing is left.
CREATE TABLE documents (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    document_id BLOB NOT NULL UNIQUE,
    title TEXT NOT NULL,
    kind TEXT NOT NULL,
    owner BLOB NOT NULL,
    visibility TEXT NOT NULL,
    published_version_key INTEGER,
    created_ms INTEGER NOT NULL,
    deleted_ms INTEGER,
    erased_ms INTEGER
) STRICT;

CREATE TABLE document_sources (
    document_key INTEGER NOT NULL REFERENCES documents (key) ON DELETE CASCADE,
    path TEXT NOT NULL,
    added_ms INTEGER NOT NULL,
    PRIMARY KEY (document_key, path)
) STRICT, WITHOUT ROWID;
CREATE INDEX document_sources_path ON document_sources (path);

-- The departments that see a document whose visibility is `departments`.
CREATE TABLE document_departments (
    document_key INTEGER NOT NULL REFERENCES documents (key) ON DELETE CASCADE,
    department_id BLOB NOT NULL REFERENCES departments (department_id) ON DELETE CASCADE,
    PRIMARY KEY (document_key, department_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE document_rules (
    document_key INTEGER NOT NULL REFERENCES documents (key) ON DELETE CASCADE,
    effect TEXT NOT NULL,
    profile_id BLOB,
    department_id BLOB,
    CHECK ((profile_id IS NULL) <> (department_id IS NULL))
) STRICT;
CREATE UNIQUE INDEX document_rules_profile ON document_rules (document_key, profile_id) WHERE profile_id IS NOT NULL;
CREATE UNIQUE INDEX document_rules_department ON document_rules (document_key, department_id) WHERE department_id IS NOT NULL;

-- `generation` and `retired_generation` say with which publication a version came into and left the lexical index.
-- `vector_stamp` changes whenever the version's vectors do.
CREATE TABLE versions (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    document_key INTEGER NOT NULL REFERENCES documents (key) ON DELETE CASCADE,
    number INTEGER NOT NULL,
    hash BLOB NOT NULL,
    bytes INTEGER NOT NULL,
    referenced_path TEXT,
    state TEXT NOT NULL,
    searchable TEXT,
    generation INTEGER,
    retired_generation INTEGER,
    vector_stamp INTEGER NOT NULL DEFAULT 0,
    failure TEXT,
    warnings TEXT NOT NULL DEFAULT '[]',
    n_units INTEGER NOT NULL DEFAULT 0,
    n_chunks INTEGER NOT NULL DEFAULT 0,
    effective_date TEXT,
    effective_precision TEXT,
    created_ms INTEGER NOT NULL,
    published_ms INTEGER,
    UNIQUE (document_key, number)
) STRICT;
CREATE INDEX versions_hash ON versions (hash);
CREATE INDEX versions_generation ON versions (generation);

-- Stages that need not be done again, unless the stage itself has a newer version.
CREATE TABLE version_stages (
    version_key INTEGER NOT NULL REFERENCES versions (key) ON DELETE CASCADE,
    stage TEXT NOT NULL,
    stage_version INTEGER NOT NULL,
    finished_ms INTEGER NOT NULL,
    PRIMARY KEY (version_key, stage)
) STRICT, WITHOUT ROWID;

CREATE TABLE units (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    unit_id BLOB NOT NULL UNIQUE,
    version_key INTEGER NOT NULL REFERENCES versions (key) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    kind TEXT NOT NULL,
    locator TEXT NOT NULL,
    text TEXT NOT NULL,
    process TEXT NOT NULL,
    trust TEXT NOT NULL,
    heading_path TEXT NOT NULL,
    layout BLOB,
    content_hash BLOB NOT NULL,
    UNIQUE (version_key, ordinal)
) STRICT;

CREATE TABLE chunks (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    chunk_id BLOB NOT NULL UNIQUE,
    version_key INTEGER NOT NULL REFERENCES versions (key) ON DELETE CASCADE,
    ordinal INTEGER NOT NULL,
    kind TEXT NOT NULL,
    header TEXT NOT NULL,
    text TEXT NOT NULL,
    spans TEXT NOT NULL,
    locator TEXT NOT NULL,
    process TEXT NOT NULL,
    trust TEXT NOT NULL,
    n_tokens INTEGER NOT NULL,
    indexed_hash BLOB NOT NULL,
    has_vector INTEGER NOT NULL DEFAULT 0,
    UNIQUE (version_key, ordinal)
) STRICT;
CREATE INDEX chunks_indexed_hash ON chunks (indexed_hash) WHERE has_vector = 1;

CREATE TABLE jobs (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    job_id BLOB NOT NULL UNIQUE,
    version_key INTEGER NOT NULL REFERENCES versions (key) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    state TEXT NOT NULL,
    stage TEXT NOT NULL,
    done INTEGER NOT NULL DEFAULT 0,
    total INTEGER NOT NULL DEFAULT 0,
    attempts INTEGER NOT NULL DEFAULT 0,
    failure TEXT,
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX jobs_state ON jobs (state, key);
CREATE INDEX jobs_version ON jobs (version_key);

CREATE TABLE conversations (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    conversation_id BLOB NOT NULL UNIQUE,
    profile_id BLOB NOT NULL,
    title TEXT NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX conversations_profile ON conversations (profile_id, key);

CREATE TABLE runs (
    key INTEGER PRIMARY KEY AUTOINCREMENT,
    run_id BLOB NOT NULL UNIQUE,
    conversation_key INTEGER REFERENCES conversations (key) ON DELETE CASCADE,
    profile_id BLOB NOT NULL,
    question TEXT NOT NULL,
    state TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    ended_ms INTEGER
) STRICT;
CREATE INDEX runs_profile ON runs (profile_id, key);
CREATE INDEX runs_conversation ON runs (conversation_key, key);

CREATE TABLE run_events (
    run_key INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    event TEXT NOT NULL,
    PRIMARY KEY (run_key, seq)
) STRICT, WITHOUT ROWID;

-- Which documents the events of a run quote: removal finds them by this.
CREATE TABLE run_documents (
    document_id BLOB NOT NULL,
    run_key INTEGER NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
    PRIMARY KEY (document_id, run_key)
) STRICT, WITHOUT ROWID;
