package broadcast_test

import (
	"testing"
	"time"

	"supportbot/shared/broadcast"
)

func TestHours_Wait(t *testing.T) {
	t.Parallel()
	day := &broadcast.Hours{From: "09:00", To: "21:00", Zone: "Europe/Moscow"}
	night := &broadcast.Hours{From: "22:00", To: "06:00", Zone: "Europe/Moscow"}
	at := func(hour, minute int) time.Time { // in Moscow, UTC+3
		return time.Date(2026, 3, 10, hour-3, minute, 0, 0, time.UTC)
	}
	for name, tc := range map[string]struct {
		hours *broadcast.Hours
		now   time.Time
		want  time.Duration
	}{
		"none":               {nil, at(4, 0), 0},
		"before":             {day, at(4, 30), 4*time.Hour + 30*time.Minute},
		"the first minute":   {day, at(9, 0), 0},
		"the last minute":    {day, at(20, 59), 0},
		"the end":            {day, at(21, 0), 12 * time.Hour},
		"over midnight":      {night, at(23, 0), 0},
		"past midnight":      {night, at(5, 59), 0},
		"between the nights": {night, at(6, 0), 16 * time.Hour},
		"the hour that a clock leaves out": {
			&broadcast.Hours{From: "02:30", To: "04:00", Zone: "Europe/Berlin"},
			time.Date(2026, 3, 29, 0, 0, 0, 0, time.UTC), time.Hour,
		},
		"the same, west of Greenwich": { // at 01:45; the clock goes on to 03:00 at 02:00
			&broadcast.Hours{From: "02:30", To: "21:00", Zone: "America/New_York"},
			time.Date(2026, 3, 8, 6, 45, 0, 0, time.UTC), 15 * time.Minute,
		},
		"a day without midnight": { // at 23:30; the clock goes on to 01:00 at 00:00
			&broadcast.Hours{From: "00:00", To: "08:00", Zone: "America/Santiago"},
			time.Date(2026, 9, 6, 3, 30, 0, 0, time.UTC), 30 * time.Minute,
		},
		"minutes that a night leaves out": {
			&broadcast.Hours{From: "02:15", To: "02:45", Zone: "Europe/Berlin"},
			time.Date(2026, 3, 29, 0, 45, 0, 0, time.UTC), 23*time.Hour + 30*time.Minute,
		},
		"45 minutes": { // 08:59:30 in Kathmandu, UTC+5:45
			&broadcast.Hours{From: "09:00", To: "21:00", Zone: "Asia/Kathmandu"},
			time.Date(2026, 3, 10, 3, 14, 30, 0, time.UTC), 30 * time.Second,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := tc.hours.Wait(tc.now)
			if err != nil || got != tc.want {
				t.Errorf("got %s, %v, want %s", got, err, tc.want)
			}
		})
	}
}

func TestHours_Refusals(t *testing.T) {
	t.Parallel()
	for _, h := range []broadcast.Hours{
		{From: "9", To: "21:00", Zone: "UTC"}, {From: "09:00", To: "24:30", Zone: "UTC"}, {From: "09:00", To: "21:00", Zone: "Nowhere"},
		{From: "09:00", To: "9:00", Zone: "UTC"},
	} {
		if _, err := h.Wait(time.Now()); err == nil {
			t.Errorf("%+v is accepted", h)
		}
	}
}

func TestContent_Text(t *testing.T) {
	t.Parallel()
	both := broadcast.Content{Texts: map[string]string{"ru": "да", "en": "yes"}, Fallback: "en"}
	one := broadcast.Content{Texts: map[string]string{"ru": "да"}}
	for _, tc := range []struct {
		c        broadcast.Content
		locale   string
		text, in string
	}{{both, "ru", "да", "ru"}, {both, "de", "yes", "en"}, {one, "en", "да", "ru"}, {broadcast.Content{}, "ru", "", ""}} {
		if text, in := tc.c.Text(tc.locale); text != tc.text || in != tc.in {
			t.Errorf("for %s: got %q in %q, want %q in %q", tc.locale, text, in, tc.text, tc.in)
		}
	}
}
