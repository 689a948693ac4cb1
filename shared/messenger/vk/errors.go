package vk

import (
	"fmt"
	"time"

	"supportbot/shared/messenger"
)

// Waits for the three ways in which VK says "too much"; it names no wait itself.
const (
	burstWait = time.Second     // 6: the calls per second
	floodWait = 3 * time.Minute // 9: the same thing too often
	quotaWait = time.Hour       // 29: a method's quota
)

// Codes that the adapter acts upon (dev.vk.com/reference/errors).
const (
	codeParam           = 100
	codeKeyboardInvalid = 911
	codeBotFeatures     = 912
)

// refusal turns an error code of VK's into an error of the port. VK's own words
// stay out of it: they can repeat what was sent.
func refusal(method string, code int) *messenger.Error {
	e := &messenger.Error{Code: code, Err: fmt.Errorf("%s: %s", method, meaning(code))}
	switch code {
	case 6:
		e.Kind, e.RetryAfter = messenger.RateLimited, burstWait
	case 9:
		e.Kind, e.RetryAfter = messenger.RateLimited, floodWait
	case 29:
		e.Kind, e.RetryAfter = messenger.RateLimited, quotaWait
	case 1, 10, 36:
		e.Kind = messenger.Uncertain // VK broke down somewhere on the way
	case 18, 30, 37, 900, 901, 902, 936, 950, 985, 987, 988:
		e.Kind = messenger.Blocked
	case 8, 22, 100, 104, 105, 113, 118, 121, 129, 909, 910, 911, 912, 913, 914, 920, 921, 924, 940, 943, 944, 949, 962, 969,
		917, 922, 925, 927, 932, 935, 945, 946:
		e.Kind = messenger.Invalid
	default:
		// What is wrong with the token or the community a person has to mend,
		// and a code that nobody here has heard of deserves another try.
		e.Kind = messenger.Temporary
	}
	return e
}

func meaning(code int) string {
	switch code {
	case 5, 27, 28:
		return "the community's token is not valid: an operator has to replace it"
	case 7, 15, 20, 42:
		return "the community's token lacks a right: an operator has to grant it"
	case 14, 17, 24, 25:
		return "VK wants a person to confirm (captcha or validation)"
	case 6:
		return "too many calls per second"
	case 9:
		return "flood control"
	case 29:
		return "quota of the method is used up"
	case 1, 10, 13, 36:
		return "VK had an internal error"
	case 18, 30, 37:
		return "the account is deleted, banned or private"
	case 900:
		return "the customer is on the community's blacklist"
	case 901, 902, 936, 950, 985, 987, 988:
		return "the customer takes no messages"
	case 8, 100, 113:
		return "VK does not accept a parameter"
	case 909, 920, 949:
		return "the message can no longer be edited"
	case 910, 913, 914, 940:
		return "the message is too big"
	case codeKeyboardInvalid, codeBotFeatures:
		return "VK does not accept the keyboard"
	case 917, 922, 925, 927, 932, 935, 945, 946:
		return "the chat is out of reach"
	}
	return "VK refused"
}
