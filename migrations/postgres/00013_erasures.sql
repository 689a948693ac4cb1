-- +goose Up

-- An erasure cannot be called off any more. The keys of those that were refused a later
-- one for the same customer.
UPDATE jobs SET key = key || ':cancelled:' || id WHERE kind = 'person.erase' AND state = 'cancelled';
UPDATE jobs SET cancel_requested_at = NULL WHERE kind = 'person.erase' AND cancel_requested_at IS NOT NULL;
