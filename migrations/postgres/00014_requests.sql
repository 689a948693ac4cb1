-- +goose Up
-- All jobs of a request are found without reading those of others.
CREATE INDEX jobs_correlation ON jobs (correlation_id, id);

COMMENT ON COLUMN jobs.failures IS 'What happened, the latest twenty: at, what (failed, review, lost, dead; replayed, cancelled: by whom is its error), stage, error';
