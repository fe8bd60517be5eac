// Package environment reads what a function needs to run from environment variables: in Lambda,
// and in the local runner's processes.
//
//	BUCKETSEARCH_S3       object store and bucket: https://s3.eu-central-1.amazonaws.com/my-bucket
//	AWS_…                 credentials and region, as usual
//	BUCKETSEARCH_REDIS    redis://host:port/0, or redis://host:port?addr=host:port of a Redis Cluster (schedule, pack,
//	                      index, merge, sweep; see OpenRedis)
//	BUCKETSEARCH_QUEUES   prefix of all queues' URLs (schedule, pack, index, merge, sweep)
//	BUCKETSEARCH_AGENT    name of the crawler
//	BUCKETSEARCH_ALLOW_PRIVATE=1   fetch may reach addresses that are not public
//	BUCKETSEARCH_JUDGES   names and keys of those who may judge results: ann:KEY bob:KEY (query)
//	BUCKETSEARCH_CLICKS   a secret by which clicks on results are counted (query)
//	BUCKETSEARCH_LEAVES   URLs of query functions that search parts of the index (query; see package leaf)
//	BUCKETSEARCH_LEAF_KEY   a secret that these share (query)
//	BUCKETSEARCH_FRONT_KEY   a secret that a server before this one sends; requests without it are refused (query; see onlyFromFront)
//	BUCKETSEARCH_METRICS  name of the stack: write its metrics to the log, from which CloudWatch makes custom metrics, which are paid for
//
// In Lambda it also reads AWS_LAMBDA_FUNCTION_MEMORY_SIZE, the MiB that are billed: seven eighths of them become the
// soft limit of the process's memory, unless GOMEMLIMIT sets it.
package environment

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/aws-lambda-go/lambda"
	"github.com/aws/aws-lambda-go/lambdaurl"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/sqs"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/logging"

	"github.com/bucketsearch/bucketsearch/functions/shared/judgment"
	"github.com/bucketsearch/bucketsearch/functions/shared/leaf"
	"github.com/bucketsearch/bucketsearch/functions/shared/message"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/functions/shared/vitals"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/meter"
	"github.com/bucketsearch/bucketsearch/layout/blob/s3blob"
	"github.com/bucketsearch/bucketsearch/strategy/literal"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
)

// settingsAge is the age at which cached settings are read from the bucket again.
const settingsAge = 30 * time.Second

// deadLetterQueue is the name of the queue to which SQS moves the messages that all other queues give up.
const deadLetterQueue = "dead"

// Environment holds the clients and settings with which a function runs. Fields that the function
// does not use may be empty.
type Environment struct {
	Bucket       blob.Bucket // bucket of the program; requests to it are counted in the function's vital signs
	Settings     *settings.Cache
	Redis        redis.UniversalClient
	Sender       task.Sender
	DeadLetters  *message.DeadLetterQueue // queue of SQS from which the sweep takes messages that were given up
	Worker       string                   // name of the process, which no other process has
	Agent        string
	AllowPrivate bool
	Judges       judgment.Keys
	Clicks       judgment.ClickKey
	Leaves       leaf.Leaves
	Log          *slog.Logger
	Traffic      *vitals.Traffic // counts the network traffic of the process
	Paid         float64         // memory in GB that Lambda bills for this function; 0 outside of Lambda
	Cache        int64           // bytes of caches: with bookkeeping, half of the memory limit; 0: not in Lambda

	frontKey string // see onlyFromFront
	function string
	vitals   *vitals.Recorder
	feedback blob.Bucket // bucket for vital signs (counts of the process's activity); its own requests are not counted
}

// Read reads the environment variables of a function and opens the bucket, Redis and queues that
// they name. It sends no request.
func Read(ctx context.Context, function string, getenv func(string) string) (*Environment, error) {
	host, _ := os.Hostname()
	e := &Environment{
		// In Lambda all hosts and processes have the same names.
		Worker:   fmt.Sprintf("%s/%d-%08x", host, os.Getpid(), rand.Uint32()),
		Agent:    getenv("BUCKETSEARCH_AGENT"),
		Log:      slog.New(slog.NewJSONHandler(os.Stderr, nil)).With("function", function),
		function: function,
	}
	var err error
	if e.AllowPrivate, err = literal.Switch("BUCKETSEARCH_ALLOW_PRIVATE", getenv("BUCKETSEARCH_ALLOW_PRIVATE")); err != nil {
		return nil, err
	}
	if e.Judges, err = judgment.ParseKeys(getenv("BUCKETSEARCH_JUDGES")); err != nil {
		return nil, fmt.Errorf("BUCKETSEARCH_JUDGES: %w", err)
	}
	if e.Clicks, err = judgment.ParseClickKey(getenv("BUCKETSEARCH_CLICKS")); err != nil {
		return nil, fmt.Errorf("BUCKETSEARCH_CLICKS: %w", err)
	}
	if e.Leaves, err = leaf.Parse(getenv("BUCKETSEARCH_LEAVES"), getenv("BUCKETSEARCH_LEAF_KEY")); err != nil {
		return nil, err
	}
	if e.frontKey = getenv("BUCKETSEARCH_FRONT_KEY"); e.frontKey != "" && len(e.frontKey) < leastFrontKey {
		return nil, fmt.Errorf("BUCKETSEARCH_FRONT_KEY has %d characters: take a secret of %d or more, such as that of openssl rand -hex 16", len(e.frontKey), leastFrontKey)
	}
	memory, _ := strconv.Atoi(getenv("AWS_LAMBDA_FUNCTION_MEMORY_SIZE"))
	options := vitals.Options{Worker: e.Worker, Now: time.Now, Memory: memory}
	if stack := getenv("BUCKETSEARCH_METRICS"); stack != "" {
		options.Metrics, options.Stack = os.Stdout, stack
	}
	e.vitals = vitals.New(options)
	e.Traffic = e.vitals.Traffic()
	store, err := OpenS3(getenv("BUCKETSEARCH_S3"), getenv, e.Traffic)
	if err != nil {
		return nil, fmt.Errorf("BUCKETSEARCH_S3: %w", err)
	}
	e.Paid = float64(memory) / 1024
	e.Cache = limitMemory(int64(memory)<<20, getenv("GOMEMLIMIT"))
	e.Bucket = blob.Retry(meter.Bucket(e.vitals.Bucket(function, store)), RetryPolicy())
	e.feedback = blob.Retry(store, RetryPolicy())
	e.Settings = &settings.Cache{Bucket: e.Bucket, Now: time.Now, Age: settingsAge}
	if address := getenv("BUCKETSEARCH_REDIS"); address != "" {
		if e.Redis, err = OpenRedis(address, e.Traffic); err != nil {
			return nil, WrongRedis("BUCKETSEARCH_REDIS", address)
		}
	}
	if prefix := getenv("BUCKETSEARCH_QUEUES"); prefix != "" {
		client, err := OpenSQS(ctx, e.Traffic, "")
		if err != nil {
			return nil, err
		}
		e.Sender = message.NewSQS(client, QueueURLs(prefix))
		e.DeadLetters = DeadLetterQueue(client, prefix, e.deadLetterStore())
	}
	return e, nil
}

// OpenSQS returns a client of SQS with the credentials and the region of the usual AWS variables. The
// parameter traffic counts the bytes of its connections. The parameter server is the URL of the server, unless the
// variable AWS_ENDPOINT_URL_SQS names another; if it is "", the server is that of the region.
func OpenSQS(ctx context.Context, traffic *vitals.Traffic, server string) (*sqs.Client, error) {
	loaded, err := config.LoadDefaultConfig(ctx, config.WithHTTPClient(awshttp.NewBuildableClient().WithTransportOptions(func(t *http.Transport) {
		traffic.Transport(t)
	})))
	if err != nil {
		return nil, fmt.Errorf("cannot read the AWS configuration: %w", err)
	}
	return sqs.NewFromConfig(loaded, func(o *sqs.Options) {
		if server != "" && o.BaseEndpoint == nil {
			o.BaseEndpoint = &server
		}
	}), nil
}

// QueueURLs returns the URL of each queue, by its name. The parameter prefix is what all URLs begin with.
func QueueURLs(prefix string) map[string]string {
	urls := make(map[string]string)
	for _, queue := range task.Queues {
		urls[queue] = prefix + queue
	}
	return urls
}

// DeadLetterQueue returns the queue of SQS with the messages that all other queues gave up. The parameter prefix
// is what the URLs of all queues begin with, and store is where their dead letters are stored.
func DeadLetterQueue(client *sqs.Client, prefix string, store message.DeadLetterStore) *message.DeadLetterQueue {
	return &message.DeadLetterQueue{Client: client, URL: prefix + deadLetterQueue, Prefix: prefix[strings.LastIndex(prefix, "/")+1:], Store: store}
}

// limitMemory sets the soft memory limit of this process. The parameter memory is the memory of the Lambda
// function in bytes; if it is 0, the process does not run in Lambda, and limitMemory does nothing. The limit
// becomes seven eighths of this memory, unless the variable GOMEMLIMIT, whose value is the parameter set, has set
// the limit already. The result is the size of caches (see Environment.Cache).
func limitMemory(memory int64, set string) (cache int64) {
	if memory <= 0 {
		return 0
	}
	if set == "" {
		debug.SetMemoryLimit(memory / 8 * 7)
	}
	return min(debug.SetMemoryLimit(-1), memory) / 2 / 9 * 8 // the bookkeeping takes an eighth of the caches
}

// OpenS3 opens the bucket whose URL is the parameter address, such as
// http://127.0.0.1:9000/my-bucket. Credentials and region are in the usual AWS variables. The
// parameter traffic counts the bytes of the bucket's connections.
func OpenS3(address string, getenv func(string) string, traffic *vitals.Traffic) (*s3blob.Bucket, error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("%q is no URL of a bucket; write it like http://127.0.0.1:9000/my-bucket", address)
	}
	bucket := strings.Trim(u.Path, "/")
	if bucket == "" || strings.Contains(bucket, "/") {
		return nil, fmt.Errorf("%q names no bucket; write it like http://127.0.0.1:9000/my-bucket", address)
	}
	return s3blob.Open(s3blob.Config{
		Endpoint:     u.Scheme + "://" + u.Host,
		Bucket:       bucket,
		Region:       getenv("AWS_REGION"),
		AccessKey:    getenv("AWS_ACCESS_KEY_ID"),
		SecretKey:    getenv("AWS_SECRET_ACCESS_KEY"),
		SessionToken: getenv("AWS_SESSION_TOKEN"),
		Conn:         traffic.Conn,
	})
}

// RetryPolicy returns the policy by which failed requests to the object store are repeated: up to
// six attempts. The pauses between them take 1.5 seconds or more together, so that a request
// succeeds even if the store is busy or down for that time.
func RetryPolicy() blob.Policy {
	return blob.Policy{
		Attempts: 6,
		Base:     100 * time.Millisecond,
		Max:      3 * time.Second,
		Random:   func() float64 { return 0.5 + rand.Float64()/2 },
		Sleep:    blob.Sleep,
	}
}

// Time limits for putting the vital signs (counts of the process's activity) into the bucket:
// feedbackTime at the end of an invocation, shutdownTime after SIGTERM, which comes half a second
// before Lambda kills the process.
const (
	feedbackTime = 5 * time.Second
	shutdownTime = 400 * time.Millisecond
)

// Start runs handle for the messages of the function's queue, and for other events (see
// message.Accept); the event of a check is answered by check. It does not return.
func (e *Environment) Start(handle message.Handler) {
	e.logAll()
	accept := message.Accept(e.Watch(handle))
	lambda.StartWithOptions(func(ctx context.Context, event json.RawMessage) (events.SQSEventResponse, error) {
		var asked checkEvent
		if json.Unmarshal(event, &asked) == nil && asked.Check {
			return events.SQSEventResponse{}, e.check(ctx)
		}
		return accept(ctx, event)
	}, lambda.WithEnableSIGTERM(e.end))
}

// Serve answers requests to the function's URL with the handler, and streams the responses. While
// nothing is published, the handler gets empty settings. The event of a check is answered by check.
// Other events that are no requests fail. Serve does not return.
func (e *Environment) Serve(handler http.Handler) {
	e.Settings.Empty = true
	e.logAll()
	serve := lambdaurl.Wrap(withCookies(onlyFromFront(e.frontKey, e.WatchHTTP(handler))))
	type event struct {
		events.LambdaFunctionURLRequest
		checkEvent // cannot be a part of a request, which is in the other fields
	}
	lambda.StartWithOptions(func(ctx context.Context, r event) (*events.LambdaFunctionURLStreamingResponse, error) {
		if r.Check {
			return &events.LambdaFunctionURLStreamingResponse{StatusCode: http.StatusOK, Body: http.NoBody}, e.check(ctx)
		}
		if r.RequestContext.HTTP.Method == "" {
			return nil, fmt.Errorf("cannot accept the event: the function %s answers only requests to its function URL", e.function)
		}
		return serve(ctx, &r.LambdaFunctionURLRequest)
	}, lambda.WithEnableSIGTERM(e.end))
}

// withCookies returns a handler that adds the cookies of each request to its headers, and then
// calls the given handler. Lambda sends the cookies of requests to a function URL apart from the
// headers, and lambdaurl leaves them out.
func withCookies(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		event, found := lambdaurl.RequestFromContext(r.Context())
		if found && len(event.Cookies) > 0 && r.Header.Get("Cookie") == "" {
			r.Header.Set("Cookie", strings.Join(event.Cookies, "; "))
		}
		handler.ServeHTTP(w, r)
	})
}

// logAll sends the log lines of libraries to the function's log, which is JSON. It disables
// go-redis's own logging, because go-redis also returns the errors that it logs.
func (e *Environment) logAll() {
	slog.SetDefault(e.Log)
	logging.Disable()
}

// Watch returns a handler that calls handle and records its vital signs: invocations, failures,
// requests. At intervals it puts these into the bucket. It also stores dead letters, that is,
// messages that are given up.
func (e *Environment) Watch(handle message.Handler) message.Handler {
	watched := e.vitals.Watch(e.function, e.deadLetterStore().Watch(e.function, handle))
	return func(ctx context.Context, event events.SQSEvent) (events.SQSEventResponse, error) {
		defer e.feedBack(ctx)
		return watched(ctx, event)
	}
}

func (e *Environment) deadLetterStore() message.DeadLetterStore {
	return message.DeadLetterStore{Bucket: e.Bucket, Now: time.Now, Log: e.Log}
}

// WatchHTTP returns an HTTP handler that calls the given one, and records its vital signs
// (invocations, failures, requests) and puts them into the bucket, as Watch does. It stores no dead
// letters.
func (e *Environment) WatchHTTP(handler http.Handler) http.Handler {
	watched := e.vitals.WatchHTTP(e.function, handler)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer e.feedBack(r.Context())
		watched.ServeHTTP(w, r)
	})
}

// feedBack puts the vital signs (counts of the process's activity) into the bucket if they are due.
// It is called at the end of each invocation, because Lambda then freezes the process until the
// next one.
func (e *Environment) feedBack(ctx context.Context) {
	if e.vitals.Due() {
		e.flush(context.WithoutCancel(ctx), feedbackTime)
	}
}

// end puts the vital signs (counts of the process's activity) into the bucket. It is called when
// Lambda ends the process.
func (e *Environment) end() { e.flush(context.Background(), shutdownTime) }

func (e *Environment) flush(ctx context.Context, within time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if err := e.vitals.Flush(ctx, e.feedback); err != nil {
		e.Log.WarnContext(ctx, "feedback", "error", err) // the next flush puts the same counts
	}
}
