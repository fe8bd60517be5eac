package environment

import (
	"maps"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/bucketsearch/bucketsearch/functions/shared/task"
)

var complete = map[string]string{
	"BUCKETSEARCH_S3":            "http://127.0.0.1:9000/bucket",
	"BUCKETSEARCH_REDIS":         "redis://127.0.0.1:6379/0",
	"BUCKETSEARCH_QUEUES":        "http://127.0.0.1:9/0/",
	"BUCKETSEARCH_AGENT":         "testbot/1.0",
	"BUCKETSEARCH_ALLOW_PRIVATE": "1",
	"AWS_REGION":                 "us-east-1",
	"AWS_ACCESS_KEY_ID":          "key",
	"AWS_SECRET_ACCESS_KEY":      "secret",
}

// with returns a function like os.Getenv. It returns the given values for the given variables, and
// valid values for all other variables of the program.
func with(changes map[string]string) func(string) string {
	variables := maps.Clone(complete)
	maps.Copy(variables, changes)
	return func(name string) string { return variables[name] }
}

func TestRead(t *testing.T) {
	e, err := Read(t.Context(), task.Fetch, with(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer e.Redis.Close()
	if e.Bucket == nil || e.Settings == nil || e.Sender == nil || e.Worker == "" || e.Agent != "testbot/1.0" || !e.AllowPrivate {
		t.Errorf("read %+v", e)
	}
	e, err = Read(t.Context(), task.Fetch, with(map[string]string{
		"BUCKETSEARCH_REDIS": "", "BUCKETSEARCH_QUEUES": "", "BUCKETSEARCH_ALLOW_PRIVATE": "",
	}))
	if err != nil {
		t.Fatal(err)
	}
	if e.Redis != nil || e.Sender != nil || e.AllowPrivate {
		t.Errorf("for fetch: read %+v", e)
	}
	if again, err := Read(t.Context(), task.Fetch, with(nil)); err != nil || again.Worker == e.Worker {
		t.Errorf("two workers are called %s, %v", e.Worker, err)
	}
}

// TestMemory checks the memory limit that follows from a Lambda function's memory, and the size of caches.
func TestMemory(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	const mib = 1 << 20
	for _, c := range []struct {
		memory, set  string
		limit, cache int64
	}{
		{"", "", 1000 * mib, 0},
		{"512", "", 448 * mib, 448 * mib / 2 / 9 * 8},
		{"2048", "", 1792 * mib, 1792 * mib / 2 / 9 * 8},
		{"2048", "1000MiB", 1000 * mib, 1000 * mib / 2 / 9 * 8},
		{"512", "1000MiB", 1000 * mib, 512 * mib / 2 / 9 * 8}, // no limit that is reached
	} {
		debug.SetMemoryLimit(1000 * mib) // as the runtime sets it by GOMEMLIMIT
		e, err := Read(t.Context(), task.Fetch, with(map[string]string{
			"BUCKETSEARCH_REDIS": "", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE": c.memory, "GOMEMLIMIT": c.set,
		}))
		if err != nil {
			t.Fatal(err)
		}
		if limit := debug.SetMemoryLimit(-1); limit != c.limit || e.Cache != c.cache {
			t.Errorf("%q MiB, GOMEMLIMIT %q: limit %d, caches of %d bytes; want %d and %d", c.memory, c.set, limit, e.Cache, c.limit, c.cache)
		}
	}
}

func TestReadSaysWhatIsWrong(t *testing.T) {
	for _, test := range []struct{ name, value, want string }{
		{"BUCKETSEARCH_S3", "", "no URL of a bucket"},
		{"BUCKETSEARCH_S3", "my-bucket", "no URL of a bucket"},
		{"BUCKETSEARCH_S3", "http://127.0.0.1:9000/", "names no bucket"},
		{"BUCKETSEARCH_S3", "http://127.0.0.1:9000/a/b", "names no bucket"},
		{"BUCKETSEARCH_REDIS", "127.0.0.1:6379", "redis://"},
		{"BUCKETSEARCH_JUDGES", "ann:short", "key of judge ann"},
		{"BUCKETSEARCH_CLICKS", "short", "has 5 bytes"},
		{"BUCKETSEARCH_FRONT_KEY", "short", "has 5 characters"},
	} {
		_, err := Read(t.Context(), task.Fetch, with(map[string]string{test.name: test.value}))
		if err == nil || !strings.Contains(err.Error(), test.name) || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s=%s: %v; want the name and %q", test.name, test.value, err, test.want)
		}
	}
}
