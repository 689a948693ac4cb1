-- +goose Up
CREATE TABLE ticket_cursors (
	issue       text PRIMARY KEY,
	starts_at   timestamptz NOT NULL,
	comment_id  text NOT NULL DEFAULT '',
	change_id   text NOT NULL DEFAULT '',
	recent      text[] NOT NULL DEFAULT '{}',
	updated_at  timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE ticket_cursors IS 'How far the news of a Tracker issue have been read; issue is its immutable id';
COMMENT ON COLUMN ticket_cursors.starts_at IS 'Nothing older goes to the customer';
COMMENT ON COLUMN ticket_cursors.recent IS 'Keys of entries handled beyond the cursors, which stay two minutes behind because listings lag';

CREATE TABLE answers (
	issue    text NOT NULL,
	comment  text NOT NULL,
	version  bigint NOT NULL,
	messages text[] NOT NULL,
	files    text[] NOT NULL DEFAULT '{}',
	sent_at  timestamptz NOT NULL DEFAULT now(),
	PRIMARY KEY (issue, comment)
);
COMMENT ON TABLE answers IS 'Which version of an agent''s reply the customer has, and as which messages; kept as long as the cursor';

CREATE TABLE watermarks (
	name  text PRIMARY KEY,
	at    timestamptz NOT NULL
);
COMMENT ON TABLE watermarks IS 'How far a poll of Tracker has come, by Tracker''s own updatedAt';

CREATE TABLE duties (
	name        text PRIMARY KEY,
	lease_token uuid,
	lease_until timestamptz,
	done_at     timestamptz
);
COMMENT ON TABLE duties IS 'Timer duties: one holder at a time';
