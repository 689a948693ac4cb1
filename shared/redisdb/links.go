package redisdb

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"supportbot/shared/messenger"
)

// linkBytes make a code of eight characters, which a person can type: 40 bits, good
// for ten minutes, behind the limit of messages that each customer has.
const linkBytes = 5

func linkKey(code string) string { return "link:code:" + hashed(code) }
func usedKey(code string) string { return "link:used:" + hashed(code) }

// LinkCode makes a code that means an address, good for ten minutes.
func (s *Sessions) LinkCode(ctx context.Context, a messenger.Address) (string, error) {
	var b [linkBytes]byte
	_, _ = rand.Read(b[:])
	code := base32.StdEncoding.EncodeToString(b[:])
	if err := s.client.Set(ctx, linkKey(code), a.String(), codeLife).Err(); err != nil {
		return "", fmt.Errorf("keep code: %w", err)
	}
	return code, nil
}

// LinkFrom gives the address that a code means; ok is false for an unknown code.
func (s *Sessions) LinkFrom(ctx context.Context, code string) (a messenger.Address, ok bool, err error) {
	text, err := s.client.Get(ctx, linkKey(code)).Result()
	if errors.Is(err, redis.Nil) {
		return a, false, nil
	}
	if err != nil {
		return a, false, fmt.Errorf("read code: %w", err)
	}
	a, err = messenger.ParseAddress(text)
	return a, err == nil, err
}

// UseLink makes a code theirs who use it first, for as long as it may be good; ok is
// false for all others.
func (s *Sessions) UseLink(ctx context.Context, code string, by messenger.Address) (ok bool, err error) {
	first, err := s.client.SetArgs(ctx, usedKey(code), by.String(), redis.SetArgs{Mode: "NX", Get: true, TTL: codeLife}).Result()
	switch {
	case errors.Is(err, redis.Nil): // nobody had
		return true, nil
	case err != nil:
		return false, fmt.Errorf("use code: %w", err)
	}
	return first == by.String(), nil
}

// dropCodes ends the codes that mean an address, or that it has used. It goes through
// all keys: nobody else looks for codes by their address.
func dropCodes(ctx context.Context, client redis.UniversalClient, a messenger.Address) error {
	for keys := client.Scan(ctx, 0, "link:*", scanPage).Iterator(); ; {
		if !keys.Next(ctx) {
			return keys.Err()
		}
		of, err := client.Get(ctx, keys.Val()).Result()
		if err != nil && !errors.Is(err, redis.Nil) {
			return err
		}
		if of == a.String() {
			if err := client.Del(ctx, keys.Val()).Err(); err != nil {
				return err
			}
		}
	}
}

// scanPage is how many keys one step of a scan looks at.
const scanPage = 1000
