-- Runs that belong to a profile or a search for the capacity, and what such a job needs to go on.

ALTER TABLE jobs ADD COLUMN parent INTEGER REFERENCES jobs;  -- the job that a run belongs to
ALTER TABLE jobs ADD COLUMN step INTEGER;                    -- its place in the parent's sequence
ALTER TABLE jobs ADD COLUMN plan TEXT;                       -- JSON: the settings to go on with
CREATE INDEX jobs_by_parent ON jobs (parent, step);
