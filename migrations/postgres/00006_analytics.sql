-- +goose Up
CREATE TABLE analytics_loads (
	name        text PRIMARY KEY,
	since       timestamptz NOT NULL,
	until       timestamptz,
	reached     timestamptz NOT NULL,
	tickets     bigint NOT NULL DEFAULT 0,
	remaining   bigint,
	started_at  timestamptz NOT NULL,
	updated_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
	finished_at timestamptz
);
COMMENT ON TABLE analytics_loads IS 'How far loads of tickets into the analytics have come';
COMMENT ON COLUMN analytics_loads.name IS '"tickets" goes on for ever; "history since <time>" ends where it began itself';
COMMENT ON COLUMN analytics_loads.reached IS 'Everything that was updated before is loaded, by Tracker''s own updatedAt, or owed';

CREATE TABLE analytics_owed (
	issue      text PRIMARY KEY,
	tries      integer NOT NULL DEFAULT 1,
	last_error text NOT NULL,
	owed_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE analytics_owed IS 'Tickets that a load had to leave out because Tracker could not tell their history; each load tries them again';
