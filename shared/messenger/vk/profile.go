package vk

import (
	"context"
	"errors"

	"github.com/SevereCloud/vksdk/v2/api"

	"supportbot/shared/messenger"
)

// Profile gives a person's name and nickname, which VK's events leave out. Its
// errors are never Uncertain.
func (b *Bot) Profile(ctx context.Context, userID string) (messenger.User, error) {
	var users []struct {
		FirstName  string `json:"first_name"`
		LastName   string `json:"last_name"`
		ScreenName string `json:"screen_name"`
	}
	params := api.Params{"user_ids": userID, "fields": "screen_name"}
	if err := b.read(ctx, "users.get", params, &users); err != nil {
		return messenger.User{}, err
	}
	if len(users) != 1 {
		return messenger.User{}, invalid(errors.New("users.get: VK does not know the user"))
	}
	u := messenger.User{ID: userID, Name: joined(" ", users[0].FirstName, users[0].LastName)}
	if users[0].ScreenName != "id"+userID { // that is what people without a nickname have
		u.Username = users[0].ScreenName
	}
	return u, nil
}
