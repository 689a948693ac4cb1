package telegram

import "regexp"

// profile is what people see of the bot, per language and, for the commands, per
// scope.
type profile struct {
	commands map[string][]command
	texts    map[string]string // "description ru"
	name     *regexp.Regexp    // of a command
	language *regexp.Regexp    // its code
}

type command struct {
	Command     string `json:"command"`
	Description string `json:"description"`
}

func newProfile() profile {
	return profile{
		commands: map[string][]command{}, texts: map[string]string{},
		name: regexp.MustCompile(`^/?[a-z0-9_]{1,32}$`), language: regexp.MustCompile(`^[a-z]{2}$`),
	}
}

func profileMethods() map[string]handler {
	return map[string]handler{
		"setMyCommands": (*Server).setMyCommands, "getMyCommands": (*Server).getMyCommands,
		"deleteMyCommands":      (*Server).deleteMyCommands,
		"setMyDescription":      func(s *Server, c *call) (any, *refusal) { return s.setText(c, "description", 512) },
		"getMyDescription":      func(s *Server, c *call) (any, *refusal) { return s.getText(c, "description") },
		"setMyShortDescription": func(s *Server, c *call) (any, *refusal) { return s.setText(c, "short_description", 120) },
		"getMyShortDescription": func(s *Server, c *call) (any, *refusal) { return s.getText(c, "short_description") },
		"setMyName":             func(s *Server, c *call) (any, *refusal) { return s.setText(c, "name", 64) },
		"getMyName":             (*Server).getMyName,
	}
}

func (s *Server) getMe(*call) (any, *refusal) {
	b := s.bot()
	return map[string]any{
		"id": b.ID, "is_bot": true, "first_name": b.FirstName, "username": b.Username,
		"can_join_groups": true, "can_read_all_group_messages": s.cfg.ReadsGroups, "supports_inline_queries": false,
		"can_connect_to_business": false, "has_main_web_app": false,
	}, nil
}

// profileMethod runs a method for a language, which is a code of two letters or none.
func profileMethod(next handler) handler {
	return func(s *Server, c *call) (any, *refusal) {
		if code := c.text("language_code"); code != "" && !s.profile.language.MatchString(code) {
			return nil, bad("invalid language code specified")
		}
		return next(s, c)
	}
}

// scope names where a list of commands is shown, with its language.
func (c *call) scope() string {
	if scope := c.text("scope"); scope != "" {
		return scope + " " + c.text("language_code")
	}
	return `{"type":"default"} ` + c.text("language_code")
}

func (s *Server) setMyCommands(c *call) (any, *refusal) {
	var list []command
	there, err := c.object("commands", &list)
	switch {
	case err != nil:
		return nil, bad("can't parse commands JSON object")
	case !there:
		return nil, bad("commands must be non-empty")
	case len(list) > 100:
		return nil, bad("BOT_COMMANDS_TOO_MUCH")
	}
	for _, one := range list {
		switch {
		case !s.profile.name.MatchString(one.Command):
			return nil, bad("BOT_COMMAND_INVALID")
		case one.Description == "" || units(one.Description) > 256:
			return nil, bad("BOT_COMMAND_DESCRIPTION_INVALID")
		}
	}
	s.profile.commands[c.scope()] = list
	c.effect = true
	s.changed()
	return true, nil
}

func (s *Server) getMyCommands(c *call) (any, *refusal) {
	if list := s.profile.commands[c.scope()]; list != nil {
		return list, nil
	}
	return []command{}, nil
}

func (s *Server) deleteMyCommands(c *call) (any, *refusal) {
	delete(s.profile.commands, c.scope())
	c.effect = true
	return true, nil
}

func (s *Server) setText(c *call, what string, most int) (any, *refusal) {
	text := c.text(what)
	if units(text) > most {
		return nil, bad("text is too long")
	}
	s.profile.texts[what+" "+c.text("language_code")] = text
	c.effect = true
	s.changed()
	return true, nil
}

func (s *Server) getText(c *call, what string) (any, *refusal) {
	text, ok := s.profile.texts[what+" "+c.text("language_code")]
	if !ok {
		text = s.profile.texts[what+" "]
	}
	return map[string]any{what: text}, nil
}

func (s *Server) getMyName(c *call) (any, *refusal) {
	w, _ := s.getText(c, "name")
	if name := w.(map[string]any); name["name"] == "" {
		name["name"] = s.cfg.Bot.FirstName
	}
	return w, nil
}
