package privacy_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"supportbot/shared/job"
	"supportbot/shared/messenger"
	"supportbot/shared/person"
	"supportbot/shared/sandbox/fault"
	"supportbot/shared/ticket"
	"supportbot/shared/wiring/wiringtest"
)

// exported gives the text and the content of the files that the customer got.
func (b *bureau) exported() (texts []string, dossiers []person.Dossier) {
	b.t.Helper()
	for _, m := range b.Telegram.Chat(wiringtest.TelegramID) {
		if !m.Out || m.File == nil {
			continue
		}
		var d person.Dossier
		if err := json.Unmarshal(m.File.Data, &d); err != nil {
			b.t.Fatal(err)
		}
		texts, dossiers = append(texts, m.Text), append(dossiers, d)
	}
	return texts, dossiers
}

// TestExport_TrackerAway: an export waits some minutes for Tracker, with nothing behind it;
// then it comes without the tickets, which it says.
func TestExport_TrackerAway(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]string{"for a moment": "1 second", "for long": "6 minutes"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBureau(t)
			b.Open(b.c, "d1")
			b.away = true
			export := person.ExportJob(person.Export{Person: b.id, Address: b.c.Address}, time.Now())
			b.Insert(export, job.New{
				Queue: ticket.QueueDeliveries, Kind: ticket.KindNotice, Key: "behind", Sequence: time.Now().Add(time.Hour).UnixMilli(),
				Lane:    job.Lane{Name: ticket.OutboundLane(b.c.Address)},
				Payload: ticket.Notice{Address: b.c.Address, Part: messenger.Part{Text: "после выгрузки"}},
			})
			b.Work()
			if texts, _ := b.exported(); len(texts) > 0 {
				t.Errorf("sent at once: %q", texts)
			}
			if n := b.Count(b.c, "после выгрузки"); n != 1 {
				t.Errorf("%d messages, want that which came behind the export", n)
			}
			b.Exec(`UPDATE jobs SET started_at = started_at - $1::text::interval WHERE key = $2`, wait, export.Key)
			b.away = name == "for long"
			b.Later(time.Minute)
			b.Want(export.Key, job.Completed)
			texts, dossiers := b.exported()
			if len(texts) != 1 || strings.Contains(texts[0], "без списка обращений") != b.away || (dossiers[0].Tickets == nil) != b.away {
				t.Errorf("got %q with %+v", texts, dossiers)
			}
			if len(dossiers) == 1 && len(dossiers[0].Chats) != 1 {
				t.Errorf("of the customer: %+v", dossiers[0])
			}
		})
	}
}

// TestExport_BegunLate: an export that waited for its turn is not given up at the first
// call that fails: it has been at it for a moment only.
func TestExport_BegunLate(t *testing.T) {
	t.Parallel()
	b := newBureau(t)
	export := person.ExportJob(person.Export{Person: b.id, Address: b.c.Address}, time.Now())
	b.Insert(export)
	b.Exec(`UPDATE jobs SET created_at = created_at - interval '2 hours' WHERE key = $1`, export.Key)
	b.Telegram.Faults().Add(fault.Fault{Method: "sendDocument", Kind: fault.Status, Status: 500, Times: 1})
	b.Work()
	if texts, _ := b.exported(); len(texts) > 0 {
		t.Errorf("sent at once: %q", texts)
	}
	b.Later(time.Minute)
	b.Want(export.Key, job.Completed)
	if texts, _ := b.exported(); len(texts) != 1 {
		t.Errorf("the customer got %q", texts)
	}
}
