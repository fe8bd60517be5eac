package tests

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/query/client"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/local/redis"
	"github.com/bucketsearch/bucketsearch/local/stream"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

// Workers and a server of searches run on an object store and a Redis elsewhere, without a program that
// runs everything. They begin before anything is published. One of the workers is killed in the middle of
// the crawl. All must be crawled, indexed and found as by one program that nobody disturbs.
func TestWorkers(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 40)
	tr.site.answerIn(10 * time.Millisecond)
	p, store := storeOf(t)
	p.env = []string{"AWS_ACCESS_KEY_ID=access", "AWS_SECRET_ACCESS_KEY=secret secret"}
	remote := p
	remote.data = filepath.Join(t.TempDir(), "unused") // no command makes a data directory
	bucket := []string{"--s3", store.Endpoint + "/bucketsearch"}
	queues, rdb := queuesOf(t)

	work := func(functions ...string) *process {
		return remote.start("work", append(bucket, "--redis", queues, "--allow-private", "--functions", strings.Join(functions, ","))...)
	}
	searches := remote.start("query", append(bucket, "--listen", "127.0.0.1:0")...)
	page := searches.searchPage(t)
	first := work(task.Queues...)
	second := work(task.Schedule, task.Fetch, task.Pack, task.Index)
	third := work(task.Merge, task.Rank, task.Sweep, task.Watch)
	if out := remote.must("publish", append(bucket, "--partitions", "3", tr.collection(t))...); !strings.Contains(out, "published   collection default, version 1\n") {
		t.Errorf("publish printed:\n%s", out)
	}
	tr.site.awaitVisits(30, first.ended)
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}

	tell := func(function, body string) {
		t.Helper()
		if err := stream.NewSender(rdb).Send(t.Context(), function, []byte(body), 0); err != nil {
			t.Fatal(err)
		}
	}
	done := func(function string) bool {
		n, err := rdb.XLen(t.Context(), "bucketsearch:queue:{"+function+"}").Result()
		return err == nil && n == 0
	}
	second.await(t, func() bool {
		status := remote.status(bucket...)
		if status.Discovered < len(tr.quiet.States) || status.Pending > 0 || status.Unpacked > 0 {
			for partition := range 3 { // else the last pages would wait for a minute
				tell(task.Pack, `{"storage":`+strconv.Itoa(partition)+`,"flush":true}`)
			}
			return false
		}
		return status.Unindexed == 0 && done(task.Pack) && done(task.Index)
	})
	tell(task.Rank, "{}")
	third.await(t, func() bool { return done(task.Rank) })

	answers, err := (&client.Client{URL: strings.TrimSuffix(page, "/")}).Search(t.Context(), client.Query{Text: "castle garden"})
	if want := tr.quiet.Answers["castle garden"].Total; err != nil || answers.Total != want {
		t.Errorf("the server of searches finds %d pages, want %d: %v", answers.Total, want, err)
	}
	for _, path := range []string{"healthz", "readyz"} {
		response, err := http.Get(page + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d", path, response.StatusCode)
		}
	}
	for _, run := range []*process{second, third, searches} {
		if err := run.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if _, err := run.wait(); err != nil {
			t.Errorf("after SIGTERM: %v", err)
		}
	}
	if _, err := os.Stat(remote.data); err == nil {
		t.Error("a data directory was made")
	}
	store.Close()
	p.verify()
	mustEqual(t, "workers", tr.quiet, p.picture(tr.queries))
	visits := tr.site.forget()
	t.Logf("%d visits, %d of them again", len(visits), twice(visits)-tr.retries())
}

// queuesOf starts a Redis for workers, and returns its URL and a client of it.
func queuesOf(t *testing.T) (string, *goredis.Client) {
	t.Helper()
	server, err := redis.Start(t.Context(), redis.Options{Dir: t.TempDir(), Program: redistest.Program(t)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	options, err := goredis.ParseURL(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	rdb := goredis.NewClient(options)
	t.Cleanup(func() { _ = rdb.Close() })
	return server.URL, rdb
}

// collection writes a file, and returns its path, with a collection of what the trial crawls.
func (tr *trial) collection(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "default.toml")
	seeds := strings.ReplaceAll(fmt.Sprintf("%q", tr.site.seeds("/docs/")), `" "`, `", "`)
	if err := os.WriteFile(path, []byte("name = \"default\"\nscope = \"prefix\"\ndelay = \"0s\"\nseeds = "+seeds+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
