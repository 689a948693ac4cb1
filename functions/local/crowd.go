package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"supportbot/shared/sandbox"
)

// registering makes people whom the sandbox made up customers of the platform, as if
// each had written to the bot at some time in the last three months. It is of the local
// run alone, and writes what the first visit of each would have written.
func registering(vars variables) sandbox.Register {
	return func(ctx context.Context, messenger string, list []sandbox.Newcomer) error {
		bot := vars.or("VK_GROUP_ID", "")
		if messenger == "telegram" {
			bot, _, _ = strings.Cut(vars.or("TELEGRAM_TOKEN", ""), ":")
		}
		conn, err := pgx.Connect(ctx, vars.or("DATABASE_URL", ""))
		if err != nil {
			return fmt.Errorf("open database: %w", err)
		}
		err = pgx.BeginFunc(ctx, conn, func(tx pgx.Tx) error { return register(ctx, tx, messenger, bot, list) })
		return errors.Join(err, conn.Close(context.WithoutCancel(ctx)))
	}
}

func register(ctx context.Context, tx pgx.Tx, messenger, bot string, list []sandbox.Newcomer) error {
	_, err := tx.Exec(ctx, `
		CREATE TEMPORARY TABLE newcomers (
			person bigint NOT NULL DEFAULT nextval(pg_get_serial_sequence('people', 'id')),
			seen_at timestamptz NOT NULL DEFAULT clock_timestamp() - random() * interval '90 days',
			chat text NOT NULL, name text NOT NULL, username text NOT NULL, locale text NOT NULL
		) ON COMMIT DROP`)
	if err != nil {
		return fmt.Errorf("prepare newcomers: %w", err)
	}
	rows := pgx.CopyFromSlice(len(list), func(i int) ([]any, error) {
		n := list[i]
		return []any{strconv.FormatInt(n.ID, 10), n.Name, n.Username, n.Language}, nil
	})
	if _, err := tx.CopyFrom(ctx, pgx.Identifier{"newcomers"}, []string{"chat", "name", "username", "locale"}, rows); err != nil {
		return fmt.Errorf("copy newcomers: %w", err)
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO people (id, locale, created_at) OVERRIDING SYSTEM VALUE
		SELECT person, locale, seen_at FROM newcomers`)
	if err != nil {
		return fmt.Errorf("insert people: %w", err)
	}
	_, err = tx.Exec(ctx, `
		INSERT INTO identities (messenger, bot, chat, person_id, user_id, name, username, registered_at, seen_at)
		SELECT $1, $2, chat, person, chat, name, username, seen_at, seen_at FROM newcomers`, messenger, bot)
	if err != nil {
		return fmt.Errorf("insert identities: %w", err)
	}
	return nil
}
