package v3

import (
	"context"
	"errors"
	"net/http"

	"supportbot/shared/tracker"
)

// Myself is the account that the token belongs to.
func (c *Client) Myself(ctx context.Context) (tracker.User, error) {
	var w myselfWire
	_, err := c.do(ctx, request{call: "get myself", method: http.MethodGet, path: []string{"v3", "myself"}}, &w)
	if err != nil {
		return tracker.User{}, err
	}
	u := tracker.User{ID: string(w.UID), Login: w.Login}
	for _, other := range []id{w.TrackerUID, w.PassportUID, w.CloudUID} {
		if other != "" && string(other) != u.ID {
			u.Also = append(u.Also, string(other))
		}
	}
	return u, nil
}

type myselfWire struct {
	UID         id     `json:"uid"`
	TrackerUID  id     `json:"trackerUid"`
	PassportUID id     `json:"passportUid"`
	CloudUID    id     `json:"cloudUid"`
	Login       string `json:"login"`
}

func (w *myselfWire) validate() error {
	if w.UID == "" {
		w.UID = w.TrackerUID
	}
	if w.UID == "" {
		return errors.New("the answer is not an account")
	}
	return nil
}

// Statuses lists the organisation's statuses, custom ones too (without a type).
func (c *Client) Statuses(ctx context.Context) ([]tracker.Status, error) {
	var wires []struct {
		Key  string `json:"key"`
		Name string `json:"name"`
		Type ref    `json:"type"`
	}
	_, err := c.do(ctx, request{call: "list statuses", method: http.MethodGet, path: []string{"v3", "statuses"}}, &wires)
	if err != nil {
		return nil, err
	}
	list := make([]tracker.Status, 0, len(wires))
	for _, w := range wires {
		list = append(list, tracker.Status{Key: w.Key, Type: statusType(w.Type.Key), Display: w.Name})
	}
	return list, nil
}
