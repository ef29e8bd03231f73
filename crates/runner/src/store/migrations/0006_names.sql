-- The field's words, as documents have them since their version 2.

ALTER TABLE jobs RENAME COLUMN headline_name TO primary_metric_name;
ALTER TABLE jobs RENAME COLUMN headline_value TO primary_metric_value;
ALTER TABLE series RENAME COLUMN in_doubt TO indeterminate;
ALTER TABLE series RENAME COLUMN tally TO counter;
