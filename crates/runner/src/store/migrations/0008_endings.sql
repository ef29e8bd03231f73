-- The verdict on a job, as its document has it: null while the job runs.

ALTER TABLE jobs ADD COLUMN good INTEGER;     -- 1 if the job is good
ALTER TABLE jobs ADD COLUMN flaw TEXT;        -- what is wrong with it; null for nothing

-- Documents of earlier versions have no verdict: they are judged when they are read. Lists
-- show of these jobs what they showed before.
UPDATE jobs SET flaw = CASE
    WHEN EXISTS (SELECT 1 FROM json_each(result, '$.requirements') AS judged
                 WHERE NOT json_extract(judged.value, '$.passed')) THEN 'requirements_failed'
    WHEN coalesce(json_extract(result, '$.failures.above_limit'), 0) THEN 'too_many_failures'
    WHEN coalesce(json_extract(result, '$.primary_metric.verification.verdict') = 'violated', 0)
        THEN 'count_violated'
    WHEN EXISTS (SELECT 1 FROM json_each(result, '$.audits') AS audit
                 WHERE json_extract(audit.value, '$.verdict') = 'violated') THEN 'audit_violated'
    WHEN coalesce(json_array_length(result, '$.availability.outages'), 0) > 0 THEN 'outage'
    END
WHERE kind = 'run' AND status = 'complete' AND json_valid(result);
UPDATE jobs SET good = status = 'complete' AND coalesce(flaw = 'outage', 1) WHERE status <> 'running';
