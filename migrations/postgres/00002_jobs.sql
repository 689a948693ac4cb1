-- +goose Up
CREATE TABLE jobs (
	id                  bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	queue               text NOT NULL,
	kind                text NOT NULL,
	payload_version     integer NOT NULL DEFAULT 1,
	key                 text NOT NULL UNIQUE,
	fingerprint         text,
	lane                text NOT NULL,
	strict              boolean NOT NULL,
	priority            integer NOT NULL DEFAULT 0,
	sequence            bigint NOT NULL DEFAULT 0,
	state               text NOT NULL DEFAULT 'accepted'
		CHECK (state IN ('accepted', 'queued', 'running', 'completed', 'needs_review', 'cancelled')),
	-- Indexes look at this column instead of the state, so that the steps from
	-- accepted to running touch no index (heap-only updates).
	open                boolean NOT NULL GENERATED ALWAYS AS (state IN ('accepted', 'queued', 'running')) STORED,
	stage               text NOT NULL DEFAULT '',
	stage_data          jsonb,
	stage_at            timestamptz,
	attempts            integer NOT NULL DEFAULT 0,
	losses              integer NOT NULL DEFAULT 0,
	replayed            boolean NOT NULL DEFAULT false,
	replays             integer NOT NULL DEFAULT 0,
	run_at              timestamptz NOT NULL DEFAULT clock_timestamp(),
	gather_until        timestamptz,
	held_at             timestamptz,
	held_for            text,
	lease_token         uuid,
	cancel_requested_at timestamptz,
	payload             jsonb NOT NULL,
	result              jsonb,
	last_error          text,
	correlation_id      text NOT NULL DEFAULT '',
	created_at          timestamptz NOT NULL DEFAULT clock_timestamp(),
	published_at        timestamptz,
	started_at          timestamptz,
	finished_at         timestamptz,
	told_at             timestamptz,
	CHECK ((state = 'running') = (lease_token IS NOT NULL))
) WITH (fillfactor = 70);
-- The heads of lanes: the only index that claiming needs.
CREATE INDEX jobs_lane ON jobs (lane, priority DESC, sequence, id) WHERE open AND held_at IS NULL;
CREATE INDEX jobs_held_for ON jobs (held_for) WHERE held_for IS NOT NULL;
CREATE INDEX jobs_review ON jobs (id) WHERE state = 'needs_review';
CREATE INDEX jobs_finished ON jobs (finished_at) WHERE NOT open;
ALTER TABLE jobs SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);
COMMENT ON TABLE jobs IS 'All work that outlives a request. A queue message is only a hint to a row';
COMMENT ON COLUMN jobs.key IS 'What makes the work one: the first insert wins; kept 30 days after the end';
COMMENT ON COLUMN jobs.stage IS 'Last confirmed stage, written before and after each external effect';
COMMENT ON COLUMN jobs.losses IS 'Leases lost since the last new stage; the fifth sends the job to review';
COMMENT ON COLUMN jobs.held_for IS 'Key of the job that must complete first; its cancellation sends this one to review';
COMMENT ON COLUMN jobs.gather_until IS 'Siblings may extend run_at until then';
COMMENT ON COLUMN jobs.told_at IS 'When the review was told to the people whom it concerns';

CREATE TABLE lanes (
	name        text PRIMARY KEY,
	lease_token uuid,
	lease_until timestamptz,
	used_at     timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50);
COMMENT ON TABLE lanes IS 'The right to work on a lane is a lease. A row without one means nothing and may be deleted';
