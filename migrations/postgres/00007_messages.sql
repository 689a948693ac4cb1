-- +goose Up
-- Who is erased is looked up in the messages to one customer.
CREATE INDEX broadcasts_to_one ON broadcasts (((audience->'customers'->>0)::bigint)) WHERE kind = 'message';
