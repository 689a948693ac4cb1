package vk

import (
	"strconv"
	"strings"
)

func (c *call) has(name string) bool { return c.form.Get(name) != "" }

func (c *call) text(name string) string { return c.form.Get(name) }

// number gives a whole number; ok is false when it is absent or none.
func (c *call) number(name string) (n int64, ok bool) {
	n, err := strconv.ParseInt(c.form.Get(name), 10, 64)
	return n, err == nil
}

// within gives a number of a range, or fallback when it is absent.
func (c *call) within(name string, fallback, least, most int64) (int64, *apiError) {
	if !c.has(name) {
		return fallback, nil
	}
	n, ok := c.number(name)
	if !ok || n < least || n > most {
		return 0, invalid(name + " is incorrect")
	}
	return n, nil
}

func (c *call) flag(name string) bool { return c.form.Get(name) == "1" }

// numbers gives a list; a list with something else in it is an error.
func (c *call) numbers(name string, most int) ([]int64, *apiError) {
	if !c.has(name) {
		return nil, nil
	}
	parts := strings.Split(c.form.Get(name), ",")
	if len(parts) > most {
		return nil, invalid(name + " has too many items")
	}
	list := make([]int64, 0, len(parts))
	for _, part := range parts {
		n, err := strconv.ParseInt(strings.TrimSpace(part), 10, 64)
		if err != nil {
			return nil, invalid(name + " is incorrect")
		}
		list = append(list, n)
	}
	return list, nil
}
