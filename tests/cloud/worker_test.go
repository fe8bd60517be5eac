package cloud

import (
	"context"
	"log/slog"
	"net/http"
	"os"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/local/system"
)

// A worker on a machine outside of AWS fetches in place of the function in Lambda, with the rights of that function in
// SQS. All other functions run in Lambda.
func TestFetchElsewhere(t *testing.T) {
	c, said := startWith(t, Options{Dir: t.TempDir(), Elsewhere: task.Fetch})
	for name, value := range map[string]string{"AWS_REGION": region, "AWS_ACCESS_KEY_ID": accessKey, "AWS_SECRET_ACCESS_KEY": secretKey} {
		t.Setenv(name, value)
	}
	sqs, err := c.serve(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { c.queues.serve("Fetch", w, r) }))
	if err != nil {
		t.Fatal(err)
	}
	worker, err := system.OpenWorker(t.Context(), system.WorkerOptions{
		Options: system.Options{S3: c.Store + "/" + c.bucket, AllowPrivate: true, Getenv: os.Getenv},
		Run:     []string{task.Fetch}, Queues: sqs + "/" + account + "/" + stackName + "-",
		Log: slog.New(slog.NewJSONHandler(said, nil)),
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- worker.Run(ctx) }()
	s := c.crawl(t, said)
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := worker.Close(); err != nil {
		t.Error(err)
	}
	if n := c.meter.bill()["Fetch"].Invocations; n != 0 || s.requests() < len(s.pages) {
		t.Errorf("%d of %d pages were requested, with %d invocations in Lambda", s.requests(), len(s.pages), n)
	}
	c.mustBeSound(t, said)
}
