package backend

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
)

var (
	errPortTaken = errors.New("port is taken")
	errHeld      = errors.New("the folder is in use by another server")
)

// process is a running child. Its output goes to a file, so that nothing has to
// copy it and it can be read after a crash.
type process struct {
	cmd     *exec.Cmd
	logFile string
	done    chan struct{} // closed when it has ended; how, says cmd.ProcessState
}

// launch starts a child in dir as the given account. The kernel sends it the
// signal last when this process dies, however it dies (Linux; elsewhere the child
// has to be stopped).
func launch(dir string, as account, last syscall.Signal, path string, args ...string) (*process, error) {
	return launchWith(dir, as, last, nil, path, args...)
}

// launchWith gives the child further variables.
func launchWith(dir string, as account, last syscall.Signal, env []string, path string, args ...string) (*process, error) {
	cmd := exec.Command(path, args...)
	cmd.Dir = dir // the caller's folder may be closed to the account
	cmd.Env = append(append(os.Environ(), "LC_ALL=C", "HOME="+dir), env...)
	cmd.SysProcAttr = attributes(as, last)
	lock, err := hold(dir)
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	cmd.ExtraFiles = []*os.File{lock}
	logFile := filepath.Join(dir, "server.log")
	out, err := os.OpenFile(logFile, os.O_CREATE|os.O_WRONLY|os.O_TRUNC|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open log: %w", err)
	}
	defer out.Close()
	cmd.Stdout, cmd.Stderr = out, out

	p := &process{cmd: cmd, logFile: logFile, done: make(chan struct{})}
	started := make(chan error, 1)
	go p.run(started)
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	return p, nil
}

// hold locks the folder. The child inherits the lock, and its children do, so the
// folder is held until the last of them is gone, whoever died first; two servers
// never write the same files.
func hold(dir string) (*os.File, error) {
	lock, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return lock, nil
	}
	lock.Close()
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, errHeld
	}
	return nil, fmt.Errorf("lock folder: %w", err)
}

// run keeps its thread for as long as the child lives: the signal at the parent's
// death is in truth one at the death of the thread that started the child.
func (p *process) run(started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	err := p.cmd.Start()
	started <- err
	if err != nil {
		return
	}
	_ = p.cmd.Wait()
	close(p.done)
}

func (p *process) alive() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

func (p *process) signal(sig syscall.Signal) {
	if p.alive() {
		_ = p.cmd.Process.Signal(sig) // an error means that it has just ended
	}
}

// explain says why a child ended that should have gone on, from its own words.
func (p *process) explain() error {
	out, _ := os.ReadFile(p.logFile)
	text := string(bytes.TrimSpace(out))
	if len(text) > 2000 {
		text = "..." + text[len(text)-2000:]
	}
	reason := errors.New("it ended at once")
	if lower := strings.ToLower(text); strings.Contains(lower, "address") && strings.Contains(lower, "in use") {
		reason = errPortTaken
	}
	return fmt.Errorf("%w (%s): %s", reason, p.cmd.ProcessState, text)
}
