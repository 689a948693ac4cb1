package host_test

import (
	"slices"
	"testing"

	"supportbot/.ci/package/archive"
)

// proofs has for each deployed function the test that it does its work as a loaded
// plugin, with real databases, the queue's emulator and the services' fakes: an
// event has become a row, and a call at whoever was to be called.
var proofs = map[string]func(t *testing.T){
	"telegram-webhook":    func(t *testing.T) { newDesk(t, "telegram").confirm() },
	"vk-webhook":          func(t *testing.T) { newDesk(t, "vk").confirm(); confirmsVK(t) },
	"ticket-worker":       func(t *testing.T) { newDesk(t, "telegram").open() },
	"tracker-handler":     triggerIsStored,
	"tracker-worker":      eachMessenger(func(t *testing.T, name string) { newDesk(t, name).reply() }),
	"notification-api":    func(t *testing.T) { newDesk(t, "telegram").planned() },
	"notification-worker": eachMessenger(func(t *testing.T, name string) { newDesk(t, name).broadcast() }),
	"reconciler":          reconcilerRescues,
	"migrate":             migratesTwice,
	"analytics-loader":    loadsTickets,
}

// No function is deployed that was not seen to work as the cloud runs it.
func TestFunctions(t *testing.T) {
	t.Parallel()
	names, err := archive.Functions(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			prove := proofs[name]
			if prove == nil {
				t.Fatalf("functions/%s has no proof here: write a test in which an event to its loaded plugin becomes a row and a call, and put it into proofs", name)
			}
			prove(t)
		})
	}
	for name := range proofs {
		if !slices.Contains(names, name) {
			t.Errorf("proofs has %s, which is no function", name)
		}
	}
}

func eachMessenger(prove func(t *testing.T, name string)) func(t *testing.T) {
	return func(t *testing.T) {
		for name := range messengers {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				prove(t, name)
			})
		}
	}
}
