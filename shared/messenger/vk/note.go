package vk

import (
	"encoding/json"
	"fmt"
)

// describe says in words and links what has no file; "" means that it cannot.
func describe(kind string, o owned, object json.RawMessage) string {
	switch kind {
	case "link":
		return joined(" ", "link:", o.Title, o.URL)
	case "wall":
		if o.OwnerID == 0 {
			o.OwnerID = o.FromID
		}
		return joined(" ", "post:", o.Text, o.page("wall"))
	case "wall_reply":
		return joined(" ", "comment on a post:", o.Text, o.page("wall"))
	case "market":
		return describeProduct(o, object)
	case "market_album":
		return joined(" ", "products:", o.Title, o.page("market"))
	case "poll":
		return describePoll(object)
	case "article":
		var a struct {
			ViewURL string `json:"view_url"`
		}
		_ = json.Unmarshal(object, &a) // then the title is all there is
		return joined(" ", "article:", o.Title, joined("", a.ViewURL, o.URL))
	case "gift":
		return "gift"
	case "call":
		return "call"
	}
	return ""
}

func describeProduct(o owned, object json.RawMessage) string {
	var p struct {
		Price struct {
			Text string `json:"text"`
		} `json:"price"`
	}
	_ = json.Unmarshal(object, &p) // a product without a price
	page := fmt.Sprintf("https://vk.com/market%d?w=product%d_%d", o.OwnerID, o.OwnerID, o.ID)
	return joined(" ", "product:", o.Title, p.Price.Text, page)
}

func describePoll(object json.RawMessage) string {
	var p struct {
		Question string `json:"question"`
		Answers  []struct {
			Text string `json:"text"`
		} `json:"answers"`
	}
	_ = json.Unmarshal(object, &p) // a poll without a question is a poll
	parts := []string{p.Question}
	for _, a := range p.Answers {
		parts = append(parts, a.Text)
	}
	return joined(" ", "poll:", joined(" / ", parts...))
}
