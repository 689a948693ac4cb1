package crowd_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"supportbot/shared/sandbox/crowd"
)

func TestCrowd_EverybodyIsSomebody(t *testing.T) {
	t.Parallel()
	var c crowd.Crowd
	const most = 20_000
	all := append(c.Grow(most-10), c.Grow(10)...)
	if len(all) != most || c.Size() != most {
		t.Fatalf("%d people, %d in all, want %d", len(all), c.Size(), most)
	}
	nicks, names := map[string]bool{}, map[string]int{}
	english := 0
	for i, p := range all {
		if p.ID != crowd.First+int64(i) || p.FirstName == "" || p.LastName == "" || (p.Nick != "" && nicks[p.Nick]) {
			t.Fatalf("person %d is %+v", i, p)
		}
		nicks[p.Nick] = true
		names[p.FirstName+" "+p.LastName]++
		if p.English {
			english++
		}
		if i > 0 && p.FirstName == all[i-1].FirstName {
			t.Fatalf("%d and the one before are both %s", i, p.FirstName)
		}
	}
	if len(names) < 1500 || english != most/8 {
		t.Errorf("%d names and %d who speak English, want 1500 and more, and an eighth", len(names), english)
	}
	again, known := c.Person(all[4711].ID)
	if diff := cmp.Diff(all[4711], again); diff != "" || !known {
		t.Errorf("the same person, asked for again (-want +got):\n%s", diff)
	}
}

func TestCrowd_KnowsNobodyElse(t *testing.T) {
	t.Parallel()
	var c crowd.Crowd
	for _, id := range []int64{0, crowd.First - 1, crowd.First, crowd.First + 3} {
		if p, ok := c.Person(id); ok {
			t.Errorf("an empty crowd knows %+v", p)
		}
	}
	c.Grow(3)
	for id, want := range map[int64]bool{crowd.First - 1: false, crowd.First: true, crowd.First + 2: true, crowd.First + 3: false} {
		if _, ok := c.Person(id); ok != want {
			t.Errorf("%d is there: %v, want %v", id, ok, want)
		}
	}
	if got := c.Grow(-1); len(got) != 0 || c.Size() != 3 {
		t.Errorf("%d more of -1, %d in all", len(got), c.Size())
	}
}

func TestCrowd_Find(t *testing.T) {
	t.Parallel()
	var c crowd.Crowd
	all := c.Grow(5000)
	one := all[1234]
	for name, words := range map[string]string{
		"by nick":             "@" + one.Nick,
		"by both names, late": one.LastName + " " + one.FirstName + " " + one.Nick,
	} {
		if got := c.Find(words, 20); len(got) != 1 || got[0] != one {
			t.Errorf("%s: %q finds %v, want %+v", name, words, got, one)
		}
	}
	if got := c.Find("ИВАНОВ", 20); len(got) != 20 {
		t.Errorf("%d Ivanovs of many, want 20", len(got))
	}
	if got := c.Find("nobody is called so", 20); len(got) != 0 {
		t.Errorf("found %v", got)
	}
}
