package bench

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/local/redis"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
)

// BenchmarkRedis crawls the site, and reports the memory of Redis per known URL, in bytes: that
// of the keys alone, and all memory that Redis has taken for the crawl, with scripts and the
// like.
func BenchmarkRedis(b *testing.B) {
	url := site(b)
	for b.Loop() {
		server, err := redis.Start(b.Context(), redis.Options{Dir: b.TempDir()})
		if err != nil {
			b.Fatal(err)
		}
		options, err := goredis.ParseURL(server.URL)
		if err != nil {
			b.Fatal(err)
		}
		client := goredis.NewClient(options)
		before := usedMemory(b, client)
		crawl(b, filepath.Join(b.TempDir(), "data"), url, "--redis", server.URL)
		used := usedMemory(b, client) - before
		known, err := frontier.New(client, 0).Counts(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		urls := float64(known.Stored + known.Skipped + known.Failed)
		b.ReportMetric(urls, "URLs")
		b.ReportMetric(float64(keyMemory(b, client))/urls, "keys-B/URL")
		b.ReportMetric(float64(used)/urls, "used-B/URL")
		if err := client.Close(); err != nil {
			b.Error(err)
		}
		server.Close()
	}
}

func usedMemory(b *testing.B, client *goredis.Client) int64 {
	b.Helper()
	info, err := client.Info(b.Context(), "memory").Result()
	if err != nil {
		b.Fatal(err)
	}
	_, after, _ := strings.Cut(info, "used_memory:")
	text, _, _ := strings.Cut(after, "\r\n")
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		b.Fatalf("INFO memory says %q: %v", info, err)
	}
	return n
}

// keyMemory returns the memory of all keys together, in bytes.
func keyMemory(b *testing.B, client *goredis.Client) int64 {
	b.Helper()
	var total int64
	keys := client.Scan(b.Context(), 0, "*", 1000).Iterator()
	for keys.Next(b.Context()) {
		size, err := client.MemoryUsage(b.Context(), keys.Val(), 0).Result()
		if err != nil {
			b.Fatal(err)
		}
		total += size
	}
	if err := keys.Err(); err != nil {
		b.Fatal(err)
	}
	return total
}
