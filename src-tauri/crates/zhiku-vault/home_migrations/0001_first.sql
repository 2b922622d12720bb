CREATE TABLE profiles (
    profile_id BLOB PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE vaults (
    vault_id BLOB PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    path TEXT NOT NULL UNIQUE,
    created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- Never secrets: those live in the keychain of the system.
CREATE TABLE settings (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
