package builder

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// share is a control group with a part of one processor.
type share struct{ dir string }

const period = 100_000 // microseconds

// newShare makes a group in either version of the kernel's interface; most often
// it takes root.
func newShare(cores float64) (*share, error) {
	quota := int(cores * period)
	var all []error
	for _, v := range []struct{ root, file, value string }{
		{"/sys/fs/cgroup", "cpu.max", fmt.Sprintf("%d %d", quota, period)},
		{"/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", fmt.Sprint(quota)},
	} {
		dir, err := os.MkdirTemp(v.root, "supportbot-build-")
		if err != nil {
			all = append(all, err)
			continue
		}
		if err := set(filepath.Join(dir, v.file), v.value); err != nil {
			all = append(all, err, os.Remove(dir))
			continue
		}
		return &share{dir}, nil
	}
	return nil, errors.Join(all...)
}

// set writes a file that the kernel has made; in a folder that is no group there
// is none.
func set(name, value string) error {
	f, err := os.OpenFile(name, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}

// wrap has the command enter the group before it becomes what it is.
func (s *share) wrap(cmd *exec.Cmd) {
	const script = `echo $$ > "$0/cgroup.procs" && exec "$@"`
	cmd.Args = append([]string{"sh", "-c", script, s.dir, cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
}

// remove works only once all processes have ended.
func (s *share) remove() { _ = os.Remove(s.dir) }
