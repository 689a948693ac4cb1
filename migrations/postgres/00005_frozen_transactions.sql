-- +goose Up

-- The cloud may freeze an instance between two statements of a transaction, for as
-- long as it likes; the rows that it has locked would keep everybody else waiting.
-- Set for the database and not by the connection: poolers refuse such parameters.
-- It holds for connections made from now on.
-- +goose StatementBegin
DO $$
BEGIN
	EXECUTE format('ALTER DATABASE %I SET idle_in_transaction_session_timeout = %L', current_database(), '30s');
EXCEPTION WHEN insufficient_privilege THEN
	RAISE WARNING 'idle_in_transaction_session_timeout is not set: only the owner of the database may do it';
END
$$;
-- +goose StatementEnd
