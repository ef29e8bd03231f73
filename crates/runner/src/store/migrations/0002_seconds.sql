-- What a series needs of a second beside its types; null in jobs of earlier versions.
ALTER TABLE seconds ADD COLUMN phase TEXT;          -- ramp_up | window | drain | abort
ALTER TABLE seconds ADD COLUMN server_count INTEGER; -- growth of the database's own transaction counter;
ALTER TABLE seconds ADD COLUMN server_seconds REAL;  -- between two readings; null where there is none
ALTER TABLE seconds ADD COLUMN p50_us INTEGER;      -- response times of committed ones of all types;
ALTER TABLE seconds ADD COLUMN p95_us INTEGER;      -- null where none committed
ALTER TABLE seconds ADD COLUMN p99_us INTEGER;
ALTER TABLE seconds ADD COLUMN max_us INTEGER;
