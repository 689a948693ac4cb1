package host_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/sqs"

	"supportbot/shared/broadcast"
	"supportbot/shared/env"
	"supportbot/shared/queue"
	"supportbot/shared/queue/ymq"
	"supportbot/shared/ticket"
)

// emulatorDir has the queue emulator that the queue's own tests run against.
const emulatorDir = root + "/shared/queue/ymq/testdata"

var errNoNode = errors.New("the queue emulator needs Node: apt-get install nodejs npm")

// emulator is the address of a fauxqs that ends with this process, when its
// standard input is closed.
var emulator = sync.OnceValues(func() (address string, err error) {
	for _, name := range []string{"node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			return "", errNoNode
		}
	}
	if err := install(); err != nil {
		return "", err
	}
	cmd := exec.Command("node", "serve.mjs")
	cmd.Dir = emulatorDir
	var said bytes.Buffer
	cmd.Stderr = &said
	if life, err = cmd.StdinPipe(); err != nil {
		return "", err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", fmt.Errorf("start emulator: %w", err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = cmd.Wait()
		return "", fmt.Errorf("start emulator: %w: %s", err, said.String())
	}
	return strings.TrimSpace(line), nil
})

// life is the emulator's standard input; a pipe that nobody holds would be closed.
var life any

// install runs npm ci if nobody has; test processes wait for each other.
func install() error {
	guard, err := os.Open(filepath.Join(emulatorDir, "package-lock.json"))
	if err != nil {
		return err
	}
	defer func() { _ = guard.Close() }()
	if err := syscall.Flock(int(guard.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	if _, err := os.Stat(filepath.Join(emulatorDir, "node_modules", "fauxqs")); err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "ci")
	cmd.Dir = emulatorDir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w: %s", err, out)
	}
	return nil
}

// queues makes queues of the test's own. It adds the variables of functions to
// vars and gives the consuming side.
func queues(t *testing.T, vars map[string]string) queue.Source {
	t.Helper()
	address, err := emulator()
	if err != nil {
		if os.Getenv("CI") != "true" {
			t.Skipf("skipped, no queue emulator: %v", err)
		}
		t.Fatal(err)
	}
	vars["QUEUE_ENDPOINT"], vars["QUEUE_ACCESS_KEY"], vars["QUEUE_SECRET_KEY"] = address, "key", "CANARY-queue-key"
	api := sqs.New(sqs.Options{
		BaseEndpoint: aws.String(address), Region: "ru-central1",
		Credentials: credentials.NewStaticCredentialsProvider("key", "CANARY-queue-key", ""),
	})
	names := []string{ticket.QueueTickets, ticket.QueueDeliveries, broadcast.Queue}
	for _, name := range names {
		own := fmt.Sprintf("%s-%d", name, time.Now().UnixNano())
		made, err := api.CreateQueue(context.Background(), &sqs.CreateQueueInput{QueueName: &own})
		if err != nil {
			t.Fatal(err)
		}
		vars["QUEUE_URL_"+strings.ToUpper(name)] = *made.QueueUrl
	}
	c, err := ymq.New(ymq.ConfigFrom(env.NewReaderFrom(lookup(vars)), names...))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func lookup(vars map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := vars[name]; return v, ok }
}
