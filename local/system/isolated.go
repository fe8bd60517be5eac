package system

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/local/lambda"
	"github.com/bucketsearch/bucketsearch/local/queue"
)

// isolated makes each function of the search engine run as a Lambda binary, in processes separate
// from this one. It also serves the queues of this process by the protocol of SQS, so that these
// processes can send messages to them. It returns the functions, each under the name of its queue,
// and a Go function that stops them all.
func (s *System) isolated(ctx context.Context) (map[string]queue.Function, func(), error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, nil, fmt.Errorf("cannot serve the queues: %w", err)
	}
	server := &http.Server{Handler: queue.Handler(s.queues), ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // ends with server.Close
	var runtimes []*lambda.Runtime
	end := func() {
		for _, r := range runtimes {
			if err := r.Close(); err != nil {
				s.Log.Error("function did not end", "error", err)
			}
		}
		_ = server.Close()
	}
	functions := make(map[string]queue.Function)
	for _, name := range task.Queues {
		r, err := lambda.Start(ctx, lambda.Function{
			Name:        name,
			Path:        filepath.Join(s.options.Functions, name),
			Env:         s.environment("http://" + listener.Addr().String()),
			Concurrency: concurrency[name],
			Timeout:     task.Timeout(name),
			Output:      s.logFile,
		})
		if err != nil {
			end()
			return nil, nil, err
		}
		runtimes = append(runtimes, r)
		functions[name] = r.Handle
	}
	return functions, end, nil
}

// environment returns the environment variables for functions that run in processes of their own.
// They tell a function where to find the bucket, Redis and the queues, which this process serves at
// the given URL.
func (s *System) environment(queues string) []string {
	variables := []string{
		"BUCKETSEARCH_S3=" + s.store.url,
		"BUCKETSEARCH_REDIS=" + s.redisURL,
		"BUCKETSEARCH_QUEUES=" + queues + "/000000000000/",
		"BUCKETSEARCH_AGENT=" + s.options.Agent,
		"AWS_ENDPOINT_URL_SQS=" + queues,
	}
	for _, name := range []string{"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_REGION"} {
		if value := s.store.getenv(name); value != "" {
			variables = append(variables, name+"="+value)
		}
	}
	if s.options.AllowPrivate {
		variables = append(variables, "BUCKETSEARCH_ALLOW_PRIVATE=1")
	}
	return variables
}
