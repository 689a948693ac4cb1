-- +goose Up
-- Recipients name an identity by its id: narrow rows, and erasing a customer
-- erases them from every broadcast as well.
ALTER TABLE identities ADD COLUMN id bigint GENERATED ALWAYS AS IDENTITY UNIQUE;

-- Two people turned out to be one.
ALTER TABLE people ADD COLUMN merged_into bigint REFERENCES people;
CREATE INDEX people_merged ON people (merged_into) WHERE merged_into IS NOT NULL;
COMMENT ON COLUMN people.merged_into IS 'This row is only an old id of that person: ids that others keep stay good';

ALTER TABLE jobs ADD COLUMN pause_requested_at timestamptz;
COMMENT ON COLUMN jobs.pause_requested_at IS 'Somebody paused it: held while it does not run, and as soon as it runs no more';

CREATE TABLE broadcasts (
	id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	key         text UNIQUE,
	fingerprint text,
	kind        text NOT NULL CHECK (kind IN ('news', 'maintenance', 'system', 'message')),
	state       text NOT NULL CHECK (state IN
		('draft', 'scheduled', 'planning', 'running', 'pausing', 'paused', 'cancelling', 'cancelled', 'finished')),
	title       text NOT NULL DEFAULT '',
	content     jsonb NOT NULL,
	audience    jsonb NOT NULL,
	urgency     integer NOT NULL DEFAULT 0 CHECK (urgency BETWEEN 0 AND 9),
	rate        double precision CHECK (rate > 0),
	hours       jsonb,
	start_at    timestamptz,
	parent      bigint REFERENCES broadcasts,
	relation    text CHECK (relation IN ('correction', 'test')),
	created_by  text NOT NULL,
	created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
	started_at  timestamptz,
	finished_at timestamptz,
	total       integer NOT NULL DEFAULT 0,
	purged_at   timestamptz,
	CHECK ((parent IS NULL) = (relation IS NULL))
) WITH (fillfactor = 50);
CREATE INDEX broadcasts_listed ON broadcasts (id) WHERE kind <> 'message';
CREATE INDEX broadcasts_active ON broadcasts (id) WHERE state NOT IN ('draft', 'cancelled', 'finished');
CREATE INDEX broadcasts_kept ON broadcasts (finished_at) WHERE finished_at IS NOT NULL AND purged_at IS NULL;
COMMENT ON TABLE broadcasts IS 'One message to many people';
COMMENT ON COLUMN broadcasts.key IS 'Caller and their Idempotency-Key; the same key with another fingerprint is refused';
COMMENT ON COLUMN broadcasts.content IS 'Texts by locale, the fallback locale, buttons';
COMMENT ON COLUMN broadcasts.rate IS 'Messages a second in each messenger; NULL: the limit of broadcasts';
COMMENT ON COLUMN broadcasts.purged_at IS 'When its recipients were deleted; the counts of its batches stay';

CREATE TABLE batches (
	id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	broadcast  bigint NOT NULL REFERENCES broadcasts,
	messenger  text NOT NULL,
	bot        text NOT NULL,
	number     integer NOT NULL,
	size       integer NOT NULL,
	job        bigint,
	round      integer NOT NULL DEFAULT 0,
	sent       integer NOT NULL DEFAULT 0,
	blocked    integer NOT NULL DEFAULT 0,
	failed     integer NOT NULL DEFAULT 0,
	uncertain  integer NOT NULL DEFAULT 0,
	skipped    integer NOT NULL DEFAULT 0,
	started_at timestamptz,
	done_at    timestamptz,
	UNIQUE (broadcast, messenger, bot, number)
) WITH (fillfactor = 50);
COMMENT ON TABLE batches IS 'The part of a broadcast that one job sends. The counts are recounted from the recipients, never added to';
COMMENT ON COLUMN batches.job IS 'The job that sends it; a new round (uncertain ones given back, a job that vanished) is a new job';
COMMENT ON COLUMN batches.started_at IS 'Of its first claim: only then a claim can be open';
COMMENT ON COLUMN batches.done_at IS 'When every recipient had an outcome';

CREATE TABLE recipients (
	batch      bigint NOT NULL,
	identity   bigint NOT NULL,
	n          integer NOT NULL,
	claim      uuid,
	claimed_at timestamptz,
	not_before timestamptz,
	outcome    text CHECK (outcome IN ('sent', 'blocked', 'failed', 'uncertain', 'skipped')),
	message_id text,
	error      text,
	done_at    timestamptz,
	-- The outcomes that people look for. An index on the outcome itself would cost
	-- each update of a recipient an entry in every index; so the usual course from
	-- nothing to sent touches none.
	odd        text GENERATED ALWAYS AS (CASE WHEN outcome <> 'sent' THEN outcome END) STORED,
	PRIMARY KEY (batch, n)
) WITH (fillfactor = 60);
CREATE INDEX recipients_odd ON recipients (batch, odd, n) WHERE odd IS NOT NULL;
COMMENT ON TABLE recipients IS 'Who gets a broadcast, snapshotted when it starts. Kept 90 days';
COMMENT ON COLUMN recipients.claim IS 'Token of the run that is sending right now, or was when this became uncertain; only with it an outcome may be written';
COMMENT ON COLUMN recipients.not_before IS 'To be left alone until then; kept until the outcome, since whoever had to wait goes in a call of their own';

CREATE TABLE api_keys (
	id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	name       text NOT NULL,
	role       text NOT NULL CHECK (role IN ('admin', 'analyst', 'operator')),
	hash       bytea NOT NULL UNIQUE,
	person_id  bigint REFERENCES people,
	created_at timestamptz NOT NULL DEFAULT now(),
	revoked_at timestamptz,
	used_at    timestamptz
);
CREATE UNIQUE INDEX api_keys_name ON api_keys (name) WHERE revoked_at IS NULL;
CREATE INDEX api_keys_person ON api_keys (person_id) WHERE person_id IS NOT NULL;
COMMENT ON TABLE api_keys IS 'Keys of the notification API: SHA-256 of a random key, never the key';
COMMENT ON COLUMN api_keys.person_id IS 'Who gets the tests that this key sends "to oneself"';
