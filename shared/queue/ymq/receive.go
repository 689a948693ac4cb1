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

// Receive implements queue.Source. The wait is rounded down to whole seconds,
// which is what the API takes.
func (c *Client) Receive(ctx context.Context, name string, limit int, wait time.Duration) ([]queue.Message, error) {
	url, err := c.url(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("receive from %s: %w", name, err)
	}
	out, err := c.api.ReceiveMessage(ctx, &sqs.ReceiveMessageInput{
		QueueUrl:              url,
		MaxNumberOfMessages:   int32(min(max(limit, 1), maxBatch)),
		WaitTimeSeconds:       int32(min(max(wait, 0), maxWait) / time.Second),
		MessageAttributeNames: []string{"All"},
		MessageSystemAttributeNames: []types.MessageSystemAttributeName{
			types.MessageSystemAttributeNameSentTimestamp,
			types.MessageSystemAttributeNameApproximateReceiveCount,
		},
	}, func(o *sqs.Options) { o.HTTPClient = c.poll })
	if err != nil {
		return nil, fmt.Errorf("receive from %s: %w", name, explain(err))
	}
	messages := make([]queue.Message, 0, len(out.Messages))
	for i := range out.Messages {
		messages = append(messages, message(&out.Messages[i]))
	}
	return messages, nil
}

// lastMilli is the last moment that JSON and the database can express.
const lastMilli = 253402300799999

func message(m *types.Message) queue.Message {
	got := queue.Message{
		ID:      aws.ToString(m.MessageId),
		Body:    aws.ToString(m.Body),
		Receipt: aws.ToString(m.ReceiptHandle),
	}
	got.Receives = counted(m.Attributes[string(types.MessageSystemAttributeNameApproximateReceiveCount)])
	sent := m.Attributes[string(types.MessageSystemAttributeNameSentTimestamp)]
	if ms, err := strconv.ParseInt(sent, 10, 64); err == nil && ms > 0 && ms <= lastMilli {
		got.SentAt = time.UnixMilli(ms)
	}
	for name, value := range m.MessageAttributes {
		if value.StringValue == nil {
			continue
		}
		if got.Attributes == nil {
			got.Attributes = make(map[string]string, len(m.MessageAttributes))
		}
		got.Attributes[name] = *value.StringValue
	}
	return got
}

// Delete implements queue.Source.
func (c *Client) Delete(ctx context.Context, name string, receipts ...string) error {
	url, err := c.url(ctx, name)
	if err == nil {
		err = inBatches(ctx, receipts, func(ctx context.Context, batch []string) (int, error) {
			return c.deleteBatch(ctx, url, batch)
		})
	}
	if err != nil {
		return fmt.Errorf("delete from %s: %w", name, err)
	}
	return nil
}

func (c *Client) deleteBatch(ctx context.Context, url *string, receipts []string) (failed int, err error) {
	in := &sqs.DeleteMessageBatchInput{QueueUrl: url}
	for i, receipt := range receipts {
		in.Entries = append(in.Entries, types.DeleteMessageBatchRequestEntry{
			Id: aws.String(strconv.Itoa(i)), ReceiptHandle: aws.String(receipt),
		})
	}
	out, err := c.api.DeleteMessageBatch(ctx, in)
	if err != nil {
		return len(receipts), err
	}
	return len(out.Failed), firstFailure(out.Failed)
}
