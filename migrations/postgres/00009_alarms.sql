-- +goose Up
CREATE TABLE alarms (
	name  text PRIMARY KEY,
	since timestamptz NOT NULL DEFAULT clock_timestamp()
);
COMMENT ON TABLE alarms IS 'What operators were told of and is not over';
