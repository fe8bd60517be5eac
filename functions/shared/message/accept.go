package message

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambdacontext"
)

// Accept returns the handler of a Lambda function that reads a queue. The handler calls handle with the messages of
// each event. The template for AWS connects all functions by SQS, but an operator may connect them otherwise:
//
//	the function is invoked by                           handle gets
//	SQS                                                  the messages
//	SQS, to which SNS has sent a notification            the messages, without SNS's envelope
//	SNS                                                  one message for each notification
//	S3, EventBridge, EventBridge Scheduler, or by hand   one message, whose body is the event, such as {"crawl":0}
//
// It fails for all other events, such as an HTTP request or a change of a table. An event that is not from SQS also
// fails if one of its messages has failed, because Lambda knows no partial failures then.
func Accept(handle Handler) func(context.Context, json.RawMessage) (events.SQSEventResponse, error) {
	return func(ctx context.Context, event json.RawMessage) (events.SQSEventResponse, error) {
		messages, queued, err := messagesOf(ctx, event)
		if err != nil {
			return events.SQSEventResponse{}, fmt.Errorf("cannot accept the event: %w", err)
		}
		response, err := handle(ctx, messages)
		if err == nil && !queued && len(response.BatchItemFailures) > 0 {
			err = errors.New("the event was not handled; the log says why")
		}
		return response, err
	}
}

// messagesOf returns the messages of an event. The result queued is true if they come from SQS.
func messagesOf(ctx context.Context, event json.RawMessage) (messages events.SQSEvent, queued bool, err error) {
	var shape struct {
		Records []struct {
			EventSource string `json:"eventSource"` // SNS writes EventSource, which is decoded, too
			Sns         struct{ MessageID, Message string }
		}
		RequestContext json.RawMessage `json:"requestContext"`
	}
	if err := json.Unmarshal(event, &shape); err != nil || !bytes.HasPrefix(bytes.TrimSpace(event), []byte("{")) {
		return messages, false, errors.New("it is no JSON object of a known shape")
	}
	if shape.RequestContext != nil {
		return messages, false, errors.New("it is an HTTP request; only the function query has a URL")
	}
	if len(shape.Records) == 0 {
		messages.Records = []events.SQSMessage{whole(ctx, event)}
		return messages, false, nil
	}
	switch source := shape.Records[0].EventSource; source {
	case "aws:sqs":
		err := json.Unmarshal(event, &messages)
		for i := range messages.Records {
			messages.Records[i].Body = WithoutEnvelope(messages.Records[i].Body)
		}
		return messages, true, err
	case "aws:sns":
		for _, r := range shape.Records {
			messages.Records = append(messages.Records, events.SQSMessage{MessageId: r.Sns.MessageID, Body: r.Sns.Message})
		}
	case "aws:s3":
		messages.Records = []events.SQSMessage{whole(ctx, event)}
	default:
		return messages, false, fmt.Errorf("it is from %q; want one from SQS, S3, SNS or EventBridge", source)
	}
	return messages, false, nil
}

// whole returns a message whose body is the event. Its id is that of the invocation.
func whole(ctx context.Context, event json.RawMessage) events.SQSMessage {
	m := events.SQSMessage{Body: string(event)}
	if invocation, known := lambdacontext.FromContext(ctx); known {
		m.MessageId = invocation.AwsRequestID
	}
	return m
}

// WithoutEnvelope returns the message in a notification of SNS. Any other body is returned unchanged.
func WithoutEnvelope(body string) string {
	var envelope struct{ Type, TopicArn, Message string }
	if json.Unmarshal([]byte(body), &envelope) == nil && envelope.Type == "Notification" && envelope.TopicArn != "" {
		return envelope.Message
	}
	return body
}
