package archive

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// needed are the modules of which a function has packages, in their order, behind the
// module itself. What an archive says of others would only renew it when they change.
func needed(mods []module, packages []listed) []module {
	has := map[string]bool{mods[0].Path: true}
	for i := range packages {
		has[packages[i].Module.Path] = true
	}
	return slices.DeleteFunc(slices.Clone(mods), func(m module) bool { return !has[m.Path] })
}

// goMod writes the go.mod of the modules, of which the first is the module itself. With
// a vendor folder the go command wants it to name those of vendor/modules.txt and no
// others.
func goMod(mods []module) []byte {
	var out bytes.Buffer
	fmt.Fprintf(&out, "module %s\n\ngo %s\n", mods[0].Path, mods[0].GoVersion)
	if len(mods) > 1 {
		out.WriteString("\nrequire (\n")
		for _, m := range mods[1:] {
			fmt.Fprintf(&out, "\t%s %s\n", m.Path, m.Version)
		}
		out.WriteString(")\n")
	}
	return out.Bytes()
}

// goSum keeps the lines of go.sum that are of the modules.
func goSum(whole []byte, mods []module) []byte {
	var out bytes.Buffer
	for _, line := range strings.SplitAfter(string(whole), "\n") {
		path, _, _ := strings.Cut(line, " ")
		if slices.ContainsFunc(mods, func(m module) bool { return m.Path == path }) {
			out.WriteString(line)
		}
	}
	return out.Bytes()
}

// modulesTxt writes vendor/modules.txt for the packages that are there. The go
// command wants every module that go.mod requires named as explicit, and takes a
// module's language version from here. The form is that of "go mod vendor".
func modulesTxt(mods []module, packages []listed) []byte {
	byModule := map[string][]string{}
	for i := range packages {
		if m := packages[i].Module; !m.Main {
			byModule[m.Path] = append(byModule[m.Path], packages[i].ImportPath)
		}
	}
	var out bytes.Buffer
	for _, m := range mods {
		fmt.Fprintf(&out, "# %s %s\n## explicit", m.Path, m.Version)
		if m.GoVersion != "" {
			fmt.Fprintf(&out, "; go %s", m.GoVersion)
		}
		out.WriteByte('\n')
		slices.Sort(byModule[m.Path])
		for _, p := range byModule[m.Path] {
			fmt.Fprintln(&out, p)
		}
	}
	return out.Bytes()
}
