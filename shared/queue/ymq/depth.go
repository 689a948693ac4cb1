package ymq

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/aws/aws-sdk-go-v2/service/sqs/types"

	"supportbot/shared/queue"
)

// Depth is how many messages a queue holds, about: Message Queue counts them now
// and then.
type Depth struct {
	Waiting int // that a worker could have now
	Taken   int // that a worker has
	Delayed int // whose time has not come
	// DeadName is the queue that takes what failed too often, Dead how many it
	// holds. "" when there is none.
	DeadName string
	Dead     int
}

// Depth asks how full a queue and its queue of dead letters are (Message Queue,
// GetQueueAttributes). Its key needs the role ymq.reader.
func (c *Client) Depth(ctx context.Context, name string) (Depth, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	u, err := c.url(ctx, name)
	if err != nil {
		return Depth{}, fmt.Errorf("measure %s: %w", name, err)
	}
	got, err := c.attributes(ctx, u)
	if err != nil {
		return Depth{}, fmt.Errorf("measure %s: %w", name, explain(err))
	}
	d := Depth{
		Waiting: number(got, types.QueueAttributeNameApproximateNumberOfMessages),
		Taken:   number(got, types.QueueAttributeNameApproximateNumberOfMessagesNotVisible),
		Delayed: number(got, types.QueueAttributeNameApproximateNumberOfMessagesDelayed),
	}
	d.DeadName = deadName(got[string(types.QueueAttributeNameRedrivePolicy)])
	if d.DeadName == "" {
		return d, nil
	}
	dead, err := c.find(ctx, d.DeadName)
	if err != nil {
		return d, err
	}
	if got, err = c.attributes(ctx, dead); err != nil {
		return d, fmt.Errorf("measure %s: %w", d.DeadName, explain(err))
	}
	d.Dead = number(got, types.QueueAttributeNameApproximateNumberOfMessages) +
		number(got, types.QueueAttributeNameApproximateNumberOfMessagesNotVisible)
	return d, nil
}

// Count implements queue.Counter. Its key needs the role ymq.reader.
func (c *Client) Count(ctx context.Context, name string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	u, err := c.url(ctx, name)
	if err != nil {
		return 0, fmt.Errorf("count %s: %w", name, err)
	}
	got, err := c.attributes(ctx, u)
	if err != nil {
		return 0, fmt.Errorf("count %s: %w", name, explain(err))
	}
	return number(got, types.QueueAttributeNameApproximateNumberOfMessages) +
		number(got, types.QueueAttributeNameApproximateNumberOfMessagesNotVisible) +
		number(got, types.QueueAttributeNameApproximateNumberOfMessagesDelayed), nil
}

// deadURL gives the address of a queue's dead letters. It is asked for each time: a
// queue that was made anew has another one.
func (c *Client) deadURL(ctx context.Context, of string) (*string, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	u := c.urls[of]
	got, err := c.attributes(ctx, &u)
	if err != nil {
		return nil, explain(err)
	}
	name := deadName(got[string(types.QueueAttributeNameRedrivePolicy)])
	if name == "" {
		return nil, fmt.Errorf("%w: %s has no dead letters", queue.ErrNotFound, of)
	}
	return c.find(ctx, name)
}

// find gives the address of a queue by the name that it has in the cloud.
func (c *Client) find(ctx context.Context, name string) (*string, error) {
	found, err := c.api.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String(name)})
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", name, explain(err))
	}
	return found.QueueUrl, nil
}

func (c *Client) attributes(ctx context.Context, url *string) (map[string]string, error) {
	out, err := c.api.GetQueueAttributes(ctx, &sqs.GetQueueAttributesInput{
		QueueUrl: url, AttributeNames: []types.QueueAttributeName{types.QueueAttributeNameAll},
	})
	if err != nil {
		return nil, err
	}
	return out.Attributes, nil
}

func number(attributes map[string]string, name types.QueueAttributeName) int {
	return counted(attributes[string(name)])
}

// counted reads how many there are of something; 0 where that cannot be.
func counted(text string) int {
	n, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return 0
	}
	return int(n)
}

// deadName is the last part of the ARN in a redrive policy: the queue's name.
func deadName(policy string) string {
	var p struct {
		Target string `json:"deadLetterTargetArn"`
	}
	if json.Unmarshal([]byte(policy), &p) != nil {
		return ""
	}
	return p.Target[strings.LastIndexByte(p.Target, ':')+1:]
}
