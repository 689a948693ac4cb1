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
	u, err := c.url(name)
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
	address, err := c.api.GetQueueUrl(ctx, &sqs.GetQueueUrlInput{QueueName: aws.String(d.DeadName)})
	if err != nil {
		return d, fmt.Errorf("find %s: %w", d.DeadName, explain(err))
	}
	if got, err = c.attributes(ctx, address.QueueUrl); err != nil {
		return d, fmt.Errorf("measure %s: %w", d.DeadName, explain(err))
	}
	d.Dead = number(got, types.QueueAttributeNameApproximateNumberOfMessages) +
		number(got, types.QueueAttributeNameApproximateNumberOfMessagesNotVisible)
	return d, nil
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
	n, _ := strconv.Atoi(attributes[string(name)])
	return n
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
