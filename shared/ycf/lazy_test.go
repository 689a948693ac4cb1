package ycf_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"supportbot/shared/ycf"
)

func TestLazy_KeepsOnlySuccess(t *testing.T) {
	t.Parallel()
	builds, away := 0, errors.New("database away")
	l := ycf.Lazy[int]{Build: func() (int, error) {
		builds++
		if builds == 1 {
			return 0, away
		}
		return builds, nil
	}}
	if _, err := l.Get(context.Background()); !errors.Is(err, away) {
		t.Fatalf("first Get: got %v, want %v", err, away)
	}
	for range 3 {
		if got, err := l.Get(context.Background()); err != nil || got != 2 {
			t.Fatalf("later Get: got %d, %v, want 2", got, err)
		}
	}
}

func TestLazy_CallsShareOneBuild(t *testing.T) {
	t.Parallel()
	entered, release := make(chan struct{}), make(chan struct{})
	builds := 0
	l := ycf.Lazy[int]{Build: func() (int, error) {
		builds++
		close(entered)
		<-release
		return 7, nil
	}}
	var all sync.WaitGroup
	get := func() {
		defer all.Done()
		if got, err := l.Get(context.Background()); got != 7 || err != nil {
			t.Errorf("Get: got %d, %v, want 7", got, err)
		}
	}
	all.Add(1)
	go get()
	<-entered

	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := l.Get(gone); !errors.Is(err, context.Canceled) {
		t.Errorf("Get of a call that ended: got %v, want %v", err, context.Canceled)
	}
	for range 8 {
		all.Add(1)
		go get()
	}
	close(release)
	all.Wait()
	if builds != 1 {
		t.Errorf("builds: got %d, want 1", builds)
	}
}

func TestLazy_PanicIsAFailureLikeAnyOther(t *testing.T) {
	t.Parallel()
	broken := true
	l := ycf.Lazy[string]{Build: func() (string, error) {
		if broken {
			panic("token 123:secret")
		}
		return "built", nil
	}}
	_, err := l.Get(context.Background())
	if p := (*ycf.Panic)(nil); !errors.As(err, &p) || !strings.Contains(p.At, "lazy_test.go") {
		t.Fatalf("Get: got %v, want a panic in lazy_test.go", err)
	}
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("the error tells what the panic carried: %v", err)
	}
	broken = false
	if got, err := l.Get(context.Background()); got != "built" || err != nil {
		t.Errorf("Get after the panic: got %q, %v", got, err)
	}
}
