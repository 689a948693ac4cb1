package env

import (
	"os"
	"strings"
)

// PEM gives the certificates of a variable's value: those that it holds itself, for a
// function, which has no files but its own and the runtime's, or else those of the file
// that it names.
func PEM(value string) ([]byte, error) {
	if strings.HasPrefix(value, "-----BEGIN ") {
		return []byte(value), nil
	}
	return os.ReadFile(value)
}
