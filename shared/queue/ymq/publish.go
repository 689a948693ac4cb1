package ymq

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"supportbot/shared/queue"
)

// Publish implements queue.Publisher. An attempt that got no answer is repeated,
// so a hint may be sent twice.
func (c *Client) Publish(ctx context.Context, name string, hints ...queue.Hint) error {
	url, err := c.url(ctx, name)
	if err == nil {
		err = inBatches(ctx, hints, func(ctx context.Context, batch []queue.Hint) (int, error) {
			return c.sendBatch(ctx, url, batch)
		})
	}
	if err != nil {
		return fmt.Errorf("publish to %s: %w", name, err)
	}
	return nil
}

func (c *Client) sendBatch(ctx context.Context, url *string, hints []queue.Hint) (failed int, err error) {
	in := &sqs.SendMessageBatchInput{QueueUrl: url}
	for i, h := range hints {
		in.Entries = append(in.Entries, types.SendMessageBatchRequestEntry{
			Id: aws.String(strconv.Itoa(i)), MessageBody: aws.String(h.Body()), DelaySeconds: delaySeconds(h.Delay),
		})
	}
	out, err := c.api.SendMessageBatch(ctx, in)
	if err != nil {
		return len(hints), err
	}
	return len(out.Failed), firstFailure(out.Failed)
}

// delaySeconds rounds up: a hint that comes early finds nothing to do.
func delaySeconds(d time.Duration) int32 {
	d = min(max(d, 0), queue.MaxDelay)
	return int32((d + time.Second - 1) / time.Second)
}

// firstFailure names the code only: its message may quote what was sent.
func firstFailure(failed []types.BatchResultErrorEntry) error {
	if len(failed) == 0 {
		return nil
	}
	return batchError(aws.ToString(failed[0].Code))
}

// batchError is the code of an entry that failed in a batch that did not.
type batchError string

func (e batchError) Error() string     { return "refused with " + string(e) }
func (e batchError) ErrorCode() string { return string(e) }
