package archive

import (
	"bytes"
	"fmt"
	"slices"
)

// modulesTxt writes vendor/modules.txt for the packages that are there. The go
// command wants every module that go.mod requires named as explicit, also those
// of which nothing is needed, and takes a module's language version from here.
// The form is that of "go mod vendor".
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
