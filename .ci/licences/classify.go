package main

import "strings"

// allowed are the licences, by their SPDX names, under which a function may be given
// away as it is.
var allowed = []string{"MIT", "BSD-2-Clause", "BSD-3-Clause", "Apache-2.0", "ISC", "MPL-2.0", "0BSD", "Unlicense", "Zlib"}

// phrase is what a licence says and others do not.
type phrase struct {
	name string
	says []string
}

// grants are found anywhere in a file, which may hold several.
var grants = []phrase{
	{"MIT", []string{"permission is hereby granted, free of charge, to any person obtaining a copy"}},
	{"Apache-2.0", []string{"apache license", "version 2.0"}},
	{"BSD-3-Clause", []string{"redistribution and use in source and binary forms", "neither the name"}},
	{"BSD-3-Clause", []string{"redistribution and use in source and binary forms", "may not be used to endorse"}},
	{"BSD-2-Clause", []string{"redistribution and use in source and binary forms"}},
	{"ISC", []string{"permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted, provided"}},
	{"ISC", []string{"permission to use, copy, modify, and distribute this software for any purpose with or without fee is hereby granted, provided"}},
	{"0BSD", []string{"permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted. the software"}},
	{"Unlicense", []string{"this is free and unencumbered software released into the public domain"}},
	{"Zlib", []string{"altered source versions must be plainly marked as such"}},
	{"Commons-Clause", []string{"commons clause"}},
}

// titles stand at the head of a file. Their texts name other licences.
var titles = []phrase{
	{"MPL-2.0", []string{"mozilla public license", "2.0"}},
	{"AGPL", []string{"gnu affero general public license"}},
	{"LGPL", []string{"gnu lesser general public license"}},
	{"GPL", []string{"gnu general public license"}},
	{"SSPL", []string{"server side public license"}},
	{"BUSL", []string{"business source license"}},
	{"Elastic", []string{"elastic license"}},
	{"EPL", []string{"eclipse public license"}},
}

// head is how much of a file its title stands in.
const head = 400

// classify names the licences that a text grants; none: it is not known.
func classify(text string) (names []string) {
	text = strings.ToLower(strings.Join(strings.Fields(text), " "))
	for _, t := range titles {
		if t.in(text[:min(head, len(text))]) {
			return []string{t.name}
		}
	}
	bsd := false
	for _, g := range grants {
		if !g.in(text) || bsd && strings.HasPrefix(g.name, "BSD") { // the longer one has said it
			continue
		}
		bsd = bsd || strings.HasPrefix(g.name, "BSD")
		names = append(names, g.name)
	}
	return names
}

func (p phrase) in(text string) bool {
	for _, s := range p.says {
		if !strings.Contains(text, s) {
			return false
		}
	}
	return true
}
