package ymq_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"
)

const installTime = 5 * time.Minute

var errNoNode = errors.New("the queue emulator needs Node: apt-get install nodejs npm")

// emulator is fauxqs, one for all tests of the process; it ends when life, its
// standard input, is closed, which happens at the latest with the process.
type emulator struct {
	address string
	life    io.Closer
}

var theEmulator = sync.OnceValues(startEmulator)

func startEmulator() (e emulator, err error) {
	for _, name := range []string{"node", "npm"} {
		if _, err := exec.LookPath(name); err != nil {
			return e, errNoNode
		}
	}
	if err := install("testdata"); err != nil {
		return e, err
	}
	cmd := exec.Command("node", "serve.mjs")
	cmd.Dir = "testdata"
	var said bytes.Buffer
	cmd.Stderr = &said
	if e.life, err = cmd.StdinPipe(); err != nil {
		return e, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return e, err
	}
	if err := cmd.Start(); err != nil {
		return e, fmt.Errorf("start emulator: %w", err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		_ = cmd.Wait()
		return e, fmt.Errorf("start emulator: %w: %s", err, said.String())
	}
	e.address = strings.TrimSpace(line)
	return e, nil
}

// install runs npm ci if node_modules are not those of the lock file. Test
// processes wait for each other.
func install(dir string) error {
	guard, err := os.Open(filepath.Join(dir, "package-lock.json"))
	if err != nil {
		return err
	}
	defer guard.Close()
	if err := syscall.Flock(int(guard.Fd()), syscall.LOCK_EX); err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	pinned, err := os.ReadFile(guard.Name())
	if err != nil {
		return err
	}
	sum := fmt.Sprintf("%x", sha256.Sum256(pinned))
	stamp := filepath.Join(dir, "node_modules", ".installed")
	if have, err := os.ReadFile(stamp); err == nil && string(have) == sum {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), installTime)
	defer cancel()
	cmd := exec.CommandContext(ctx, "npm", "ci")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("npm ci: %w: %s", err, out)
	}
	return os.WriteFile(stamp, []byte(sum), 0o644)
}

// admin gives the emulator's address and a client that makes queues. Without an
// emulator the test is skipped, in CI it fails.
func admin(tb testing.TB) (string, *sqs.Client) {
	tb.Helper()
	e, err := theEmulator()
	if err != nil {
		if os.Getenv("CI") == "true" {
			tb.Fatal(err)
		}
		tb.Skipf("skipped, no queue emulator: %v", err)
	}
	return e.address, sqs.New(sqs.Options{
		BaseEndpoint: aws.String(e.address), Region: "ru-central1",
		Credentials: credentials.NewStaticCredentialsProvider("key", "secret", ""),
	})
}

// createQueue makes a queue and gives its URL and ARN.
func createQueue(tb testing.TB, api *sqs.Client, name string, attributes map[string]string) (url, arn string) {
	tb.Helper()
	ctx := context.Background()
	out, err := api.CreateQueue(ctx, &sqs.CreateQueueInput{QueueName: &name, Attributes: attributes})
	if err != nil {
		tb.Fatal(err)
	}
	got, err := api.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{QueueUrl: out.QueueUrl, AttributeNames: []types.QueueAttributeName{"QueueArn"}})
	if err != nil {
		tb.Fatal(err)
	}
	return *out.QueueUrl, got.Attributes["QueueArn"]
}

func redrive(tb testing.TB, arn string, receives int) string {
	tb.Helper()
	b, err := json.Marshal(map[string]any{"deadLetterTargetArn": arn, "maxReceiveCount": receives})
	if err != nil {
		tb.Fatal(err)
	}
	return string(b)
}
