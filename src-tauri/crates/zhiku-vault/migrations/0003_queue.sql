-- How far a version is from the one that it replaces, and how many of its chunks took the vectors of equal ones.
ALTER TABLE versions ADD COLUMN change_extent TEXT;
ALTER TABLE versions ADD COLUMN n_changed_units INTEGER;
ALTER TABLE versions ADD COLUMN n_reused INTEGER NOT NULL DEFAULT 0;

-- How often a chunk's vectors were made by the model: 0 where they were taken over, and never more than 1 for one model.
ALTER TABLE chunks ADD COLUMN n_embedded INTEGER NOT NULL DEFAULT 0;

-- What the file was when it was last taken in, so that a look at its folder need not read it again; what tells it from other
-- files wherever it is moved; and when it was found gone.
ALTER TABLE document_sources ADD COLUMN bytes INTEGER;
ALTER TABLE document_sources ADD COLUMN modified_ms INTEGER;
ALTER TABLE document_sources ADD COLUMN identity TEXT;
ALTER TABLE document_sources ADD COLUMN missing_ms INTEGER;

-- Who works on the job next: it goes from lane to lane, and after a crash on in the one where it was.
ALTER TABLE jobs ADD COLUMN lane TEXT NOT NULL DEFAULT 'text';
UPDATE jobs SET lane = 'vectors' WHERE kind = 'embed';
CREATE INDEX jobs_waiting ON jobs (lane, priority, key) WHERE state = 'queued';
