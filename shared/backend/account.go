package backend

import (
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// account is whom a server runs as. PostgreSQL and PgBouncer refuse to run as
// root.
type account struct {
	name     string
	uid, gid uint32
	switched bool // it is not the account of this process
}

func (a account) credential() *syscall.Credential {
	if !a.switched {
		return nil
	}
	return &syscall.Credential{Uid: a.uid, Gid: a.gid}
}

// unprivileged is the account of this process, unless it is root.
func unprivileged() (account, error) {
	if os.Geteuid() != 0 {
		return account{name: "this user"}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errUID := strconv.ParseUint(u.Uid, 10, 32)
		gid, errGID := strconv.ParseUint(u.Gid, 10, 32)
		if errUID == nil && errGID == nil {
			return account{name: name, uid: uint32(uid), gid: uint32(gid), switched: true}, nil
		}
	}
	return account{}, fmt.Errorf("find an account other than root: neither postgres nor nobody exists")
}

// own gives everything in dir to the account.
func (a account) own(dir string) error {
	if !a.switched {
		return nil
	}
	return filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, int(a.uid), int(a.gid))
	})
}

// reaches tells whether the account can get to dir: each folder above it has to
// let it pass.
func (a account) reaches(dir string) bool {
	if !a.switched {
		return true
	}
	for parent := filepath.Dir(dir); ; parent = filepath.Dir(parent) {
		info, err := os.Stat(parent)
		if err != nil || info.Mode().Perm()&0o001 == 0 {
			return false
		}
		if parent == filepath.Dir(parent) {
			return true
		}
	}
}
