package clickhouse

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// call is a request to ClickHouse.
type call struct {
	query    string // in the address, where the body is data
	settings map[string]string
	body     []byte
	// again: it may be repeated, so a connection that turns out to be dead is no
	// failure.
	again bool
	// answer is how many bytes it may answer.
	answer int
}

const (
	// longest is how long a call may take whose caller names no end.
	longest = 4 * time.Minute
	// small is an answer that holds no rows.
	small = 64 << 10
)

// do makes the call and gives the answer.
func (db *DB) do(ctx context.Context, c call) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, longest)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, db.address+"?"+c.parameters(), bytes.NewReader(c.body))
	if err != nil {
		return nil, errors.New("the request cannot be made") // the cause repeats the address
	}
	maps.Copy(req.Header, db.header)
	if c.again {
		req.Header["Idempotency-Key"] = nil // as package net/http has it: told to the transport, and not sent
	}
	res, err := db.http.Do(req)
	if err != nil && ctx.Err() == nil {
		return nil, unreached{bare(err)}
	}
	if err != nil {
		return nil, bare(err)
	}
	defer func() { _ = res.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(res.Body, int64(c.answer)+1))
	if res.StatusCode != http.StatusOK {
		return nil, refusal(res, answer)
	}
	if err != nil {
		return nil, fmt.Errorf("read answer: %w", bare(err))
	}
	if len(answer) > c.answer {
		return nil, fmt.Errorf("the answer has more than %d bytes", c.answer)
	}
	return answer, nil
}

// parameters of every call: the answer begins when the query has ended, so that its
// status is that of the whole query.
func (c call) parameters() string {
	p := url.Values{"wait_end_of_query": {"1"}}
	if c.query != "" {
		p.Set("query", c.query)
	}
	for name, value := range c.settings {
		p.Set(name, value)
	}
	return p.Encode()
}

// bare takes the address out of an error of package http.
func bare(err error) error {
	var in *url.Error
	if errors.As(err, &in) {
		return in.Err
	}
	return err
}

// unreached is an error of the way to ClickHouse. One that came of waiting there is no
// time-out of the query: a shorter one would fare no better.
type unreached struct{ error }

func (e unreached) Unwrap() error { return e.error }

// Timeout hides that of the error.
func (unreached) Timeout() bool { return false }

// Error is what ClickHouse, or somebody before it, answered instead of doing what it
// was asked for.
type Error struct {
	Status  int    // of HTTP
	Code    int    // ClickHouse's; 0: it was not ClickHouse that answered
	Name    string // ClickHouse's of the code: UNKNOWN_TABLE, ...
	Message string // ClickHouse's words, cut; "" where they may repeat rows
}

func (e *Error) Error() string {
	switch {
	case e.Code == 0:
		return fmt.Sprintf("ClickHouse is not there: status %d", e.Status)
	case e.Message == "":
		return strings.TrimSpace(fmt.Sprintf("ClickHouse refused it: code %d %s", e.Code, e.Name))
	}
	return "ClickHouse refused it: " + e.Message
}

// Codes of queries that ClickHouse ended because of their time (its ErrorCodes.cpp).
const (
	codeTimeout = 159 // TIMEOUT_EXCEEDED
	codeTooSlow = 160 // TOO_SLOW
)

// Timeout reports whether ClickHouse ended the query because it took too long.
func (e *Error) Timeout() bool { return e.Code == codeTimeout || e.Code == codeTooSlow }

// exception is the form of ClickHouse's errors.
var exception = regexp.MustCompile(`Code: (\d+)\. DB::Exception: `)

// longestMessage is of an error that is told.
const longestMessage = 500

// refusal reads an answer whose status is not 200.
func refusal(res *http.Response, answer []byte) *Error {
	e := &Error{Status: res.StatusCode}
	e.read(answer)
	if code, err := strconv.Atoi(res.Header.Get("X-ClickHouse-Exception-Code")); err == nil {
		e.Code = code
	}
	return e
}

// late finds an error behind a status that said that all was well; nil without one.
func late(answer []byte) error {
	e := &Error{Status: http.StatusOK}
	if e.read(answer); e.Code == 0 {
		return nil
	}
	return e
}

// read takes the error out of a text like "Code: 60. DB::Exception: Table t does not
// exist. (UNKNOWN_TABLE) (version 26.7.2.1)".
func (e *Error) read(answer []byte) {
	found := exception.FindSubmatchIndex(answer)
	if found == nil {
		return
	}
	e.Code, _ = strconv.Atoi(string(answer[found[2]:found[3]]))
	text := string(answer[found[0]:])
	if at := strings.LastIndex(text, " (version "); at > 0 {
		text = text[:at]
	}
	if at := strings.LastIndexByte(text, '('); at > 0 && strings.HasSuffix(text, ")") {
		e.Name = text[at+1 : len(text)-1]
	}
	if len(text) > longestMessage {
		text = strings.ToValidUTF8(text[:longestMessage], "") + "..."
	}
	e.Message = text
}
