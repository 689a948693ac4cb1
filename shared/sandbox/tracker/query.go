package tracker

import (
	"fmt"
	"strings"
	"unicode"
)

// predicate tells whether search finds an issue in a state.
type predicate func(*issue, state) bool

// order is what a search is sorted by.
type order struct {
	field string
	desc  bool
}

// query is a search in the query language: conditions `Field: value`, joined by
// AND (which may be left out), OR and parentheses; values with >=, >, <=, < or !,
// several by commas, the functions empty(), notEmpty() and me(); `"Sort by":
// Field ASC|DESC` at the end.
type query struct {
	s      *Server
	me     *user
	tokens []token
	sort   []order
	depth  int // of parentheses
}

// maxDepth bounds nested parentheses.
const maxDepth = 100

// token is a word, a quoted text or a sign.
type token struct {
	text   string
	quoted bool
}

func (t token) is(sign string) bool { return !t.quoted && strings.EqualFold(t.text, sign) }

func tokenize(text string) (tokens []token, err error) {
	rs := []rune(text)
	for n := 0; n < len(rs); {
		r := rs[n]
		switch {
		case unicode.IsSpace(r):
			n++
		case strings.ContainsRune("<>", r) && n+1 < len(rs) && rs[n+1] == '=':
			tokens = append(tokens, token{text: string(rs[n : n+2])})
			n += 2
		case strings.ContainsRune("():,<>!", r):
			tokens = append(tokens, token{text: string(r)})
			n++
		case r == '"':
			var word strings.Builder
			for n++; n < len(rs) && rs[n] != '"'; n++ {
				if rs[n] == '\\' && n+1 < len(rs) {
					n++
				}
				word.WriteRune(rs[n])
			}
			if n == len(rs) {
				return nil, fmt.Errorf("a quote is not closed")
			}
			n++
			tokens = append(tokens, token{word.String(), true})
		default:
			from := n
			for n < len(rs) && !unicode.IsSpace(rs[n]) && !strings.ContainsRune(`():,<>!"`, rs[n]) {
				n++
			}
			tokens = append(tokens, token{text: string(rs[from:n])})
		}
	}
	return tokens, nil
}

// parseQuery reads a query; its errors are what the caller did wrong.
func (s *Server) parseQuery(me *user, text string) (predicate, []order, error) {
	tokens, err := tokenize(text)
	if err != nil {
		return nil, nil, err
	}
	q := &query{s: s, me: me, tokens: tokens}
	p, err := q.either()
	if err != nil {
		return nil, nil, err
	}
	if len(q.tokens) > 0 {
		return nil, nil, fmt.Errorf("unexpected %q", q.tokens[0].text)
	}
	return p, q.sort, nil
}

func (q *query) peek(sign string) bool { return len(q.tokens) > 0 && q.tokens[0].is(sign) }

func (q *query) accept(sign string) bool {
	if q.peek(sign) {
		q.tokens = q.tokens[1:]
		return true
	}
	return false
}

func (q *query) next() token {
	if len(q.tokens) == 0 {
		return token{}
	}
	t := q.tokens[0]
	q.tokens = q.tokens[1:]
	return t
}

// either reads conditions joined by OR.
func (q *query) either() (predicate, error) {
	p, err := q.all()
	for err == nil && q.accept("OR") {
		var right predicate
		left := p
		if right, err = q.all(); err == nil {
			p = func(i *issue, st state) bool { return left(i, st) || right(i, st) }
		}
	}
	return p, err
}

// all reads conditions joined by AND or by nothing.
func (q *query) all() (predicate, error) {
	p := func(*issue, state) bool { return true }
	for n := 0; len(q.tokens) > 0 && !q.peek("OR") && !q.peek(")"); n++ {
		if n > 0 {
			q.accept("AND")
		}
		right, err := q.term()
		if err != nil {
			return nil, err
		}
		left := p
		p = func(i *issue, st state) bool { return left(i, st) && right(i, st) }
	}
	return p, nil
}

func (q *query) term() (predicate, error) {
	if q.accept("(") {
		if q.depth++; q.depth > maxDepth {
			return nil, fmt.Errorf("too many parentheses")
		}
		p, err := q.either()
		q.depth--
		if err == nil && !q.accept(")") {
			err = fmt.Errorf("a parenthesis is not closed")
		}
		return p, err
	}
	name := q.next().text
	if name == "" || !q.accept(":") {
		return nil, fmt.Errorf("a colon is expected after %q", name)
	}
	if strings.EqualFold(name, "Sort by") {
		return func(*issue, state) bool { return true }, q.sortBy()
	}
	return q.condition(name)
}

func (q *query) sortBy() error {
	for {
		field := q.next().text
		if field == "" {
			return fmt.Errorf("a field to sort by is expected")
		}
		o := order{field: field, desc: q.accept("DESC")}
		if !o.desc {
			q.accept("ASC")
		}
		q.sort = append(q.sort, o)
		if !q.accept(",") {
			return nil
		}
	}
}

func (q *query) condition(name string) (predicate, error) {
	read, err := q.s.reader(name)
	if err != nil {
		return nil, err
	}
	var any []predicate
	for {
		p, err := q.value(read)
		if err != nil {
			return nil, err
		}
		any = append(any, p)
		if !q.accept(",") {
			break
		}
	}
	return func(i *issue, st state) bool {
		for _, p := range any {
			if p(i, st) {
				return true
			}
		}
		return false
	}, nil
}

// value reads one value of a condition with its sign.
func (q *query) value(read reader) (predicate, error) {
	sign := "="
	for _, s := range []string{">=", "<=", ">", "<", "!"} {
		if q.accept(s) {
			sign = s
			break
		}
	}
	t := q.next()
	if t.text == "" && !t.quoted {
		return nil, fmt.Errorf("a value is expected")
	}
	want := t.text
	if !t.quoted && q.accept("(") {
		if !q.accept(")") {
			return nil, fmt.Errorf("functions take no arguments")
		}
		return q.s.call(read, sign, want+"()", q.me)
	}
	return q.s.compare(read, sign, want), nil
}
