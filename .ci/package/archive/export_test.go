package archive

// Check holds files against the builder's rules.
var Check = check

// CheckGoLines holds modules, by name, against the cloud's Go.
func CheckGoLines(lines map[string]string) error {
	var mods []module
	for path, line := range lines {
		mods = append(mods, module{Path: path, GoVersion: line})
	}
	return goLines(mods)
}
