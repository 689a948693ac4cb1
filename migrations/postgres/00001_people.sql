-- +goose Up
CREATE TABLE people (
	id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
	locale      text NOT NULL DEFAULT 'ru' CHECK (locale IN ('ru', 'en')),
	roles       text[] NOT NULL DEFAULT '{}',
	tags        text[] NOT NULL DEFAULT '{}',
	news        boolean NOT NULL DEFAULT true,
	maintenance boolean NOT NULL DEFAULT true,
	status      boolean NOT NULL DEFAULT true,
	banned_at   timestamptz,
	ban_reason  text,
	created_at  timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE people IS 'One row a person, whatever messengers they write from';
COMMENT ON COLUMN people.status IS 'Wants to be told of status changes of their tickets';

CREATE TABLE identities (
	messenger         text NOT NULL,
	bot               text NOT NULL,
	chat              text NOT NULL,
	person_id         bigint NOT NULL REFERENCES people,
	user_id           text NOT NULL,
	name              text NOT NULL DEFAULT '',
	username          text NOT NULL DEFAULT '',
	reachable         boolean NOT NULL DEFAULT true,
	unreachable_since timestamptz,
	registered_at     timestamptz NOT NULL DEFAULT now(),
	seen_at           timestamptz NOT NULL,
	PRIMARY KEY (messenger, bot, chat)
);
CREATE INDEX identities_person ON identities (person_id);
COMMENT ON TABLE identities IS 'A person in one messenger: the chat with one of our bots. The same id in two messengers is two people until they link them';
COMMENT ON COLUMN identities.reachable IS 'false after the messenger said that we may not write, until the customer writes again';
