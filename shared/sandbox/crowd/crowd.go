// Package crowd makes up many people by a rule: who a number of a crowd is need not be
// remembered, so a hundred thousand of them cost nothing until something happens to
// them.
package crowd

import (
	"strconv"
	"strings"
)

// First is the id of a crowd's first person, in either messenger: above what fits into
// 32 bits, and above what the stand-ins give to people who are added one by one.
const First = 1 << 42

// Person is somebody of a crowd.
type Person struct {
	ID        int64
	FirstName string
	LastName  string
	Nick      string // without "@"; "" for every third
	English   bool   // the language of their client, of every eighth; else Russian
}

// Crowd is the people with the ids from First on. The zero value is nobody.
type Crowd struct{ size int }

// Size is how many they are.
func (c *Crowd) Size() int { return c.size }

// Grow lets n more people in and gives them.
func (c *Crowd) Grow(n int) []Person {
	n = max(0, n)
	list := make([]Person, n)
	for i := range list {
		list[i] = nth(c.size + i)
	}
	c.size += n
	return list
}

// Person gives the person with an id.
func (c *Crowd) Person(id int64) (Person, bool) {
	if id < First || id >= First+int64(c.size) {
		return Person{}, false
	}
	return nth(int(id - First)), true
}

// Find gives at most so many people whose name, nick or id contains all the words.
func (c *Crowd) Find(words string, most int) (found []Person) {
	wanted := strings.Fields(strings.ToLower(words))
	for n := 0; n < c.size && len(found) < most; n++ {
		p := nth(n)
		if p.has(wanted) {
			found = append(found, p)
		}
	}
	return found
}

func (p Person) has(words []string) bool {
	text := strings.ToLower(p.FirstName + " " + p.LastName + " @" + p.Nick + " " + strconv.FormatInt(p.ID, 10))
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}

// nth gives person n. Neighbours have different names; names repeat, as people's do,
// nicks do not.
func nth(n int) Person {
	p := Person{ID: First + int64(n)}
	if p.English = n%8 == 7; p.English {
		p.FirstName, p.LastName = pick(english, n), pick(englishFamilies, n/len(english))
	} else {
		p.FirstName, p.LastName = pick(women, n/2), pick(families, n/2/len(women))
		if n%2 == 0 {
			p.FirstName = pick(men, n/2)
		} else {
			p.LastName += "а"
		}
	}
	if n%3 != 0 {
		p.Nick = pick(nicks, n) + "_" + strconv.Itoa(n+1)
	}
	return p
}

func pick(list []string, n int) string { return list[n%len(list)] }
