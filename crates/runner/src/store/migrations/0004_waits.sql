-- Loads that wait, second by second; null in jobs of earlier versions and where it does not apply.
ALTER TABLE seconds ADD COLUMN arrivals INTEGER;    -- of an open load: fell due,
ALTER TABLE seconds ADD COLUMN skipped INTEGER;     -- were too late,
ALTER TABLE seconds ADD COLUMN given_up INTEGER;    -- were pushed out of the backlog
ALTER TABLE seconds ADD COLUMN backlog INTEGER;     -- arrivals or terminals that waited at its end
ALTER TABLE seconds ADD COLUMN wait_p50_us INTEGER; -- from due to the first attempt
ALTER TABLE seconds ADD COLUMN wait_p99_us INTEGER;
ALTER TABLE seconds ADD COLUMN wait_max_us INTEGER;
