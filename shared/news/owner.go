package news

import (
	"supportbot/shared/messenger"
	"supportbot/shared/ticket"
	"supportbot/shared/tracker"
)

// Owner is whom the news of an issue are for.
type Owner struct {
	Address messenger.Address
	Ref     ticket.Ref
}

// CustomerOf reads the customer from the unique value, which survives a move, or
// from the fields of a ticket that an agent opened for a customer. Who was erased is
// nobody.
func CustomerOf(i tracker.Issue) (Owner, bool) {
	if i.Erased {
		return Owner{}, false
	}
	if a, draft, ok := ticket.ParseUnique(i.Unique); ok {
		return Owner{a, ticket.Ref{Draft: draft}}, true
	}
	a := messenger.Address{
		Messenger: messenger.Name(i.Fields[tracker.FieldMessenger]),
		Bot:       i.Fields[tracker.FieldBot], Chat: i.Fields[tracker.FieldChat],
	}
	ok := a.Messenger != "" && a.Bot != "" && a.Chat != ""
	return Owner{a, ticket.Ref{Issue: i.ID}}, ok
}
