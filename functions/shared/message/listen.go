package message

import (
	"context"
	"log/slog"

	"github.com/aws/aws-lambda-go/events"
)

// Listener is told what happens to messages. It is safe for concurrent use.
type Listener struct {
	Failed func(events.SQSMessage, error) // by Each and Together, of every message that fails; nil: is not told
	Noted  func(what string)              // by Note; nil: is not told
}

type listenerKey struct{}

// Listen returns a context in which the listener is told. Whoever listened
// before goes on listening.
func Listen(ctx context.Context, l Listener) context.Context {
	earlier, _ := ctx.Value(listenerKey{}).([]Listener)
	return context.WithValue(ctx, listenerKey{}, append(earlier[:len(earlier):len(earlier)], l))
}

func tell(ctx context.Context, m events.SQSMessage, err error) {
	listening, _ := ctx.Value(listenerKey{}).([]Listener)
	for _, l := range listening {
		if l.Failed != nil {
			l.Failed(m, err)
		}
	}
}

type logKey struct{}

// noting is the message that is run, and its log.
type noting struct {
	log *slog.Logger
	m   events.SQSMessage
}

// Note puts on record what went wrong with a part of the message that is run in
// ctx and does not fail it: in the log, with the message's subject and the
// attributes, and with those who listen, who count it. What is one of a few
// short texts.
func Note(ctx context.Context, what string, attrs ...slog.Attr) {
	listening, _ := ctx.Value(listenerKey{}).([]Listener)
	for _, l := range listening {
		if l.Noted != nil {
			l.Noted(what)
		}
	}
	if n, run := ctx.Value(logKey{}).(*noting); run {
		n.log.LogAttrs(ctx, slog.LevelWarn, what, append(subject(n.m), attrs...)...)
	}
}
