-- Rebuildable: everything here can be made again from the chunks.
CREATE TABLE facts (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- `indexed_hash` says of which text and model the vectors are: a row whose hash is not the chunk's counts as absent.
CREATE TABLE token_vectors (
    chunk_key INTEGER PRIMARY KEY,
    document_key INTEGER NOT NULL,
    indexed_hash BLOB NOT NULL,
    data BLOB NOT NULL
) STRICT;
CREATE INDEX token_vectors_document ON token_vectors (document_key);
