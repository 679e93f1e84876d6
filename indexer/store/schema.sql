-- The snapshot is one SQLite file; everything else in the index folder is derived from it.
-- Paths are the bytes of the name (os.fsencode), since a name need not be UTF-8.

CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- Values that are not text: "surroundings" is walk.surroundings.Surroundings.
CREATE TABLE stored (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;

-- Records by content, so that renames, branch switches and reverts find them again.
CREATE TABLE records (
    content_key BLOB PRIMARY KEY,    -- BLAKE2b of language and bytes
    facts BLOB NOT NULL,             -- MessagePack of facts.FileFacts
    rest BLOB NOT NULL               -- MessagePack of the other fields of record.ContentRecord
) WITHOUT ROWID;

-- Contents of no file. Their number of bytes is limited; those that went out of use first are removed first.
CREATE TABLE kept (
    content_key BLOB PRIMARY KEY,
    generation INTEGER NOT NULL,     -- the first one without a file of this content
    n_bytes INTEGER NOT NULL         -- of its record
) WITHOUT ROWID;

CREATE TABLE files (
    file_id INTEGER PRIMARY KEY AUTOINCREMENT,
    path BLOB NOT NULL UNIQUE,
    content_key BLOB NOT NULL,
    size_bytes INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    racy INTEGER NOT NULL,           -- changed so shortly before it was read that an equal time stamp proves nothing
    language TEXT NOT NULL,
    encoding TEXT NOT NULL,
    role TEXT NOT NULL,
    module TEXT NOT NULL,
    n_lines INTEGER NOT NULL,
    leading_comment TEXT NOT NULL,
    interface BLOB NOT NULL,         -- interface.interface_digest
    head BLOB NOT NULL               -- MessagePack of heads.FileHead
);
CREATE INDEX files_by_content ON files (content_key);

-- What resolving a reference looks up across files; see link_rows.SymbolRow.
CREATE TABLE symbols (
    name TEXT NOT NULL,
    file_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    is_named INTEGER NOT NULL,
    entry BLOB NOT NULL,
    PRIMARY KEY (name, file_id, position)
) WITHOUT ROWID;

-- asked.key_number of a name or module key → files whose edges depend on it, and perhaps some that no longer do.
CREATE TABLE asked (key INTEGER NOT NULL, file_id INTEGER NOT NULL, PRIMARY KEY (key, file_id)) WITHOUT ROWID;

-- owners.OwnerAssignment
CREATE TABLE owners (
    file_id INTEGER NOT NULL,
    position INTEGER NOT NULL,
    owner_scope TEXT NOT NULL,
    owner_name TEXT NOT NULL,
    found_scope TEXT NOT NULL,
    found_name TEXT NOT NULL,
    member TEXT NOT NULL,
    PRIMARY KEY (file_id, position)
) WITHOUT ROWID;

CREATE TABLE problems (
    path BLOB NOT NULL,
    reason TEXT NOT NULL,
    detail TEXT NOT NULL,
    kept TEXT NOT NULL,
    of_content INTEGER NOT NULL      -- 1: a problem of the content, until it changes; 0: a problem of listing or reading
);
CREATE INDEX problems_by_path ON problems (path);

CREATE TABLE cards (
    card_id INTEGER PRIMARY KEY AUTOINCREMENT,
    file_id INTEGER NOT NULL,
    position INTEGER NOT NULL,       -- among the cards of the file
    definition INTEGER NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    folded_name TEXT NOT NULL,       -- case-folded
    qualified_name TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    parent TEXT NOT NULL,
    lead_line INTEGER NOT NULL,
    first_line INTEGER NOT NULL,
    name_line INTEGER NOT NULL,
    last_line INTEGER NOT NULL,
    own_lines BLOB NOT NULL,         -- MessagePack list of [first, last]
    signature TEXT NOT NULL,
    doc TEXT NOT NULL,
    bases BLOB NOT NULL,             -- MessagePack list of names
    content_hash BLOB NOT NULL
);
CREATE INDEX cards_by_file ON cards (file_id, position);
CREATE INDEX cards_by_name ON cards (folded_name) WHERE folded_name <> '';

CREATE TABLE edges (
    edge_id INTEGER PRIMARY KEY,
    source_file_id INTEGER NOT NULL,
    caller_id INTEGER,               -- card that contains the reference; NULL if there is none
    target_file_id INTEGER,          -- NULL for external and ambiguous targets
    target_id INTEGER,               -- card; NULL also if the target is a whole file
    name TEXT NOT NULL,              -- as written, receiver included
    last_name TEXT NOT NULL,
    line INTEGER NOT NULL,
    kind TEXT NOT NULL,
    confidence TEXT NOT NULL,
    rule TEXT NOT NULL,
    candidates BLOB,                 -- MessagePack list of card ids, best first, if ambiguous
    n_candidates INTEGER NOT NULL
);
CREATE INDEX edges_by_source ON edges (source_file_id);
CREATE INDEX edges_by_caller ON edges (caller_id);
CREATE INDEX edges_by_target ON edges (target_id) WHERE target_id IS NOT NULL;
CREATE INDEX edges_by_name ON edges (last_name) WHERE candidates IS NOT NULL;
