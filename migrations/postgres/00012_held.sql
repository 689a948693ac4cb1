-- +goose Up
-- What is held is counted without reading what is not.
CREATE INDEX jobs_held ON jobs (id) WHERE open AND held_at IS NOT NULL;

-- A letter says what the job was at when the queue gave it up: the job goes on.
ALTER TABLE dead_letters
	ADD COLUMN receives integer NOT NULL DEFAULT 0,
	ADD COLUMN stage text NOT NULL DEFAULT '',
	ADD COLUMN attempts integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN dead_letters.job IS 'That it hints at; NULL: it is no hint, or the job is gone (then it has no body either)';
COMMENT ON COLUMN dead_letters.receives IS 'How often it was received, as the queue said; 0: it did not say';
COMMENT ON COLUMN dead_letters.stage IS 'Of the job when the letter was kept';
COMMENT ON COLUMN dead_letters.attempts IS 'Of the job when the letter was kept';
COMMENT ON COLUMN dead_letters.body IS 'What it says, cut, where it is no hint';

-- A ticket may be silent for longer than its cursor is kept, and open.
ALTER TABLE ticket_cursors ADD COLUMN resolved boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN ticket_cursors.resolved IS 'Whether it was when its news were read last; until then the cursor is kept';
CREATE INDEX ticket_cursors_over ON ticket_cursors (updated_at) WHERE resolved;
