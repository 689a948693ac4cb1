package notification

import (
	"slices"
	"strconv"
	"strings"

	"supportbot/shared/broadcast"
	"supportbot/shared/messenger"
	"supportbot/shared/person"
)

// listMost is how many customers and tags an audience names.
const listMost = 100_000

// checkAudience: an empty list is met by nobody, and kept as no criterion at all; so
// it is refused.
func (a *API) checkAudience(s *broadcast.Spec) (fields []Field) {
	au := s.Audience
	add := func(name, code, message string) {
		fields = append(fields, Field{"/audience/" + name, code, message})
	}
	fields = append(fields, each("messengers", au.Messengers, func(m messenger.Name) string {
		return unless(m == messenger.Telegram || m == messenger.VK, "messengers are telegram, vk")
	})...)
	fields = append(fields, each("roles", au.Roles, func(r person.Role) string {
		return unless(slices.Contains(roles, r), "roles are "+join(roles))
	})...)
	fields = append(fields, each("locales", au.Locales, func(l string) string {
		return unless(slices.Contains(a.d.Locales, l), "locales are "+strings.Join(a.d.Locales, ", "))
	})...)
	fields = append(fields, each("tags", au.Tags, func(t string) string { return unless(t != "", "a tag is empty") })...)
	fields = append(fields, each("customers", au.Customers, func(id int64) string { return unless(id > 0, "an id is above 0") })...)
	if s.Kind == broadcast.System && au.Roles == nil {
		add("roles", "required", "a system notice goes by role only")
	}
	for name, span := range map[string]*broadcast.Span{"registered": au.Registered, "seen": au.Seen} {
		if span != nil && span.From != nil && span.To != nil && !span.From.Before(*span.To) {
			add(name, "invalid", "it ends before it begins")
		}
	}
	if n := len(au.Tags) + len(au.Customers); n > listMost {
		add("customers", "too_many", "at most 100000")
	}
	return fields
}

var roles = []person.Role{person.Customer, person.Agent, person.Admin, person.Analyst, person.Operator}

// each checks the items of a list of criteria.
func each[T any](name string, list []T, wrong func(T) string) (fields []Field) {
	if list != nil && len(list) == 0 {
		return []Field{{"/audience/" + name, "invalid", "the list is empty, nobody meets it; leave it out to ask for nothing"}}
	}
	for i, item := range list {
		if why := wrong(item); why != "" {
			fields = append(fields, Field{"/audience/" + name + "/" + strconv.Itoa(i), "unknown", why})
		}
	}
	return fields
}

func unless(ok bool, why string) string {
	if ok {
		return ""
	}
	return why
}
