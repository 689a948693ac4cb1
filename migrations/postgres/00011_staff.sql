-- +goose Up
CREATE TABLE staff (
	messenger text NOT NULL,
	user_id   text NOT NULL,
	roles     text[] NOT NULL,
	PRIMARY KEY (messenger, user_id)
);
COMMENT ON TABLE staff IS 'Whom the deployment gives roles, before they have written, too';

ALTER TABLE api_keys ADD COLUMN declared boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN api_keys.declared IS 'By the deployment, which revokes it when it declares it no more';
