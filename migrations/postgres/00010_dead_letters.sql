-- +goose Up
CREATE TABLE dead_letters (
	id             bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	queue          text NOT NULL,
	message        text NOT NULL,
	job            bigint,
	state          text NOT NULL,
	correlation_id text NOT NULL DEFAULT '',
	body           text NOT NULL DEFAULT '',
	sent_at        timestamptz,
	kept_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
	UNIQUE (queue, message)
);
COMMENT ON TABLE dead_letters IS 'Messages that a queue gave up: no call that got one ended well. Kept 30 days';
COMMENT ON COLUMN dead_letters.message IS 'The queue''s id of it: a letter that is read twice is kept once';
COMMENT ON COLUMN dead_letters.job IS 'That it hints at; NULL: it is no hint, or the job is gone';
COMMENT ON COLUMN dead_letters.state IS 'Of the job when the letter was kept; empty without one';
COMMENT ON COLUMN dead_letters.body IS 'What it says, cut, where there is no job';
COMMENT ON COLUMN jobs.failures IS 'What went wrong, the latest twenty: at, what (failed, review, lost, dead), stage, error';

CREATE TABLE gauges (
	name    text PRIMARY KEY,
	at      timestamptz NOT NULL DEFAULT clock_timestamp(),
	samples jsonb NOT NULL
);
COMMENT ON TABLE gauges IS 'What the reconciler measured last';

ALTER TABLE duties ADD COLUMN took interval;
COMMENT ON COLUMN duties.took IS 'How long the last run was';

-- Few jobs lose a lease, and the steps of a job that loses none touch no index.
CREATE INDEX jobs_losing ON jobs (id) WHERE open AND losses > 0;

-- What is old is found without reading what is not.
CREATE INDEX ticket_cursors_updated ON ticket_cursors (updated_at);
CREATE INDEX broadcasts_parent ON broadcasts (parent) WHERE parent IS NOT NULL;
CREATE INDEX broadcasts_purged ON broadcasts (id) WHERE kind = 'message' AND purged_at IS NOT NULL;
