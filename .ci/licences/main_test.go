package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	mit  = "Permission is hereby granted,\n free of charge, to any person obtaining a copy of this software"
	bsd2 = "Redistribution and use in source and binary forms, with or without modification, are permitted"
)

func TestClassify(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"MIT":                  {"The MIT License\n\n" + mit, []string{"MIT"}},
		"two clauses":          {bsd2, []string{"BSD-2-Clause"}},
		"three clauses":        {bsd2 + " ... * Neither the name of Google", []string{"BSD-3-Clause"}},
		"two in one file":      {bsd2 + " ... neither the name ...\n\n" + mit, []string{"MIT", "BSD-3-Clause"}},
		"Apache":               {"Apache License\n Version 2.0, January 2004", []string{"Apache-2.0"}},
		"MPL, which names GPL": {"Mozilla Public License Version 2.0\n" + strings.Repeat("x ", 500) + "GNU General Public License", []string{"MPL-2.0"}},
		"GPL":                  {"GNU GENERAL PUBLIC LICENSE\n Version 3" + strings.Repeat(" x", 500) + mit, []string{"GPL"}},
		"AGPL":                 {"                GNU AFFERO GENERAL PUBLIC LICENSE", []string{"AGPL"}},
		"LGPL":                 {"GNU LESSER GENERAL PUBLIC LICENSE", []string{"LGPL"}},
		"sources with a catch": {"Business Source License 1.1", []string{"BUSL"}},
		"Apache with a catch":  {"\"Commons Clause\" License Condition v1.0 ... Apache License Version 2.0", []string{"Apache-2.0", "Commons-Clause"}},
		"nothing known":        {"All rights reserved.", nil},
	} {
		got := classify(tc.text)
		slices.Sort(got)
		slices.Sort(tc.want)
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", name, got, tc.want)
		}
	}
}

func TestPart(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		files   map[string]string
		problem string
	}{
		"allowed":           {map[string]string{"LICENSE": mit, "COPYING.md": bsd2}, ""},
		"British":           {map[string]string{"licence.txt": mit}, ""},
		"one of two is bad": {map[string]string{"LICENSE": mit, "LICENSE.GPL": "GNU General Public License"}, "GPL is not allowed"},
		"unknown":           {map[string]string{"LICENSE": "ask me"}, "is not known"},
		"none":              {map[string]string{"README": mit}, "there is no licence"},
	} {
		dir := t.TempDir()
		for file, text := range tc.files {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, problem := (part{name, dir}).licences(); (problem == "") != (tc.problem == "") || !strings.Contains(problem, tc.problem) {
			t.Errorf("%s: %q, want %q", name, problem, tc.problem)
		}
	}
}

// TestLibraries: a script of somebody else's is found, with or without a licence.
func TestLibraries(t *testing.T) {
	t.Parallel()
	found := libraries("../../shared")
	if len(found) == 0 || !strings.Contains(found[0].name, "chart") {
		t.Errorf("libraries %v, want the charts'", found)
	}
}
