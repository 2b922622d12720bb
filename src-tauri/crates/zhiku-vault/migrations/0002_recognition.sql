-- Words that were recognised in pictures or sound know how sure the recogniser was.
ALTER TABLE units ADD COLUMN confidence REAL;
