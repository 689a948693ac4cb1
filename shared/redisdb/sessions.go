package redisdb

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"supportbot/shared/person"
)

// Sessions are the sign-ins of the console: a one-time code goes out in a link, and
// becomes a session. Codes and tokens are 256 random bits; Redis has only their
// hashes. The short codes that link two accounts are kept in the same way (LinkCode).
type Sessions struct {
	client redis.UniversalClient
	now    func() time.Time
}

// NewSessions makes them on an opened client.
func NewSessions(client redis.UniversalClient) *Sessions { return &Sessions{client, time.Now} }

const (
	codeLife    = 10 * time.Minute
	sessionLife = 12 * time.Hour
)

func codeKey(code string) string     { return "console:code:" + hashed(code) }
func sessionKey(token string) string { return "console:session:" + hashed(token) }

func hashed(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

func secret() string {
	var b [32]byte
	_, _ = rand.Read(b[:])
	return base64.RawURLEncoding.EncodeToString(b[:])
}

// Code makes a code for somebody, good for one sign-in within ten minutes.
func (s *Sessions) Code(ctx context.Context, p person.Person) (string, error) {
	raw, err := json.Marshal(person.Session{Person: p.ID, Roles: p.Roles, Locale: p.Locale})
	if err != nil {
		return "", err
	}
	code := secret()
	if err := s.client.Set(ctx, codeKey(code), raw, codeLife).Err(); err != nil {
		return "", fmt.Errorf("keep code: %w", err)
	}
	return code, nil
}

// Open exchanges a code for a session. ok is false for a code that was used, has
// expired or never was.
func (s *Sessions) Open(ctx context.Context, code string) (in person.Session, token string, ok bool, err error) {
	raw, err := s.client.GetDel(ctx, codeKey(code)).Bytes()
	if errors.Is(err, redis.Nil) {
		return in, "", false, nil
	}
	if err != nil {
		return in, "", false, fmt.Errorf("take code: %w", err)
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return in, "", false, fmt.Errorf("read code: %w", err)
	}
	in.Expires, in.Checked = s.now().Add(sessionLife).UTC().Truncate(time.Second), s.now().UTC()
	if raw, err = json.Marshal(in); err != nil {
		return in, "", false, err
	}
	token = secret()
	if err := s.client.Set(ctx, sessionKey(token), raw, sessionLife).Err(); err != nil {
		return in, "", false, fmt.Errorf("begin session: %w", err)
	}
	return in, token, true, nil
}

// Keep changes a session; one that was ended meanwhile stays ended.
func (s *Sessions) Keep(ctx context.Context, token string, in person.Session) error {
	raw, err := json.Marshal(in)
	if err != nil {
		return err
	}
	if err := s.client.SetXX(ctx, sessionKey(token), raw, redis.KeepTTL).Err(); err != nil {
		return fmt.Errorf("keep session: %w", err)
	}
	return nil
}

// Session gives a session; ok is false when it has ended.
func (s *Sessions) Session(ctx context.Context, token string) (in person.Session, ok bool, err error) {
	raw, err := s.client.Get(ctx, sessionKey(token)).Bytes()
	if errors.Is(err, redis.Nil) {
		return in, false, nil
	}
	if err != nil {
		return in, false, fmt.Errorf("read session: %w", err)
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		return in, false, fmt.Errorf("read session: %w", err)
	}
	return in, in.Expires.After(s.now()), nil
}

// Close ends a session.
func (s *Sessions) Close(ctx context.Context, token string) error {
	if err := s.client.Del(ctx, sessionKey(token)).Err(); err != nil {
		return fmt.Errorf("end session: %w", err)
	}
	return nil
}
