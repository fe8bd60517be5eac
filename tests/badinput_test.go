package tests

import (
	"strings"
	"testing"
)

// A command with a wrong argument must fail with a sentence that says what is wrong. A crawl of a
// URL that cannot be fetched must fail with the reason that is recorded for the URL.
func TestBadInput(t *testing.T) {
	t.Parallel()
	const nobody = "http://127.0.0.1:1/" // a port at which no test starts a server
	s, _ := serveGenerated(t, 2)
	for _, test := range []struct {
		name string
		args []string
		says string
	}{
		{"a seed that is no address", []string{"crawl", "not an address"}, "not an address"},
		{"a seed of another kind", []string{"crawl", "ftp://example.org/"}, "ftp"},
		{"an unknown scope", []string{"crawl", "--scope", "world", "http://127.0.0.1/"}, `scope "world": choose prefix, host, site or any`},
		{"a closed port", append([]string{"crawl"}, crawling(nobody)...), nobody + " is not stored: robots unreachable"},
		{"a host that is not public", []string{"crawl", "--delay", "0", s.origins[0] + "/docs/"}, "address refused"},
		{"a page that is nowhere", append([]string{"crawl"}, crawling(s.origins[0]+"/docs/absent.html")...), "http 404"},
		{"a search in nothing", []string{"search", "word"}, "nothing has been crawled"},
		{"an S3 URL that is none", []string{"status", "--s3", "nonsense"}, "write it like http://127.0.0.1:9000/my-bucket"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			_, err := p.run(test.args[0], test.args[1:]...)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v: want a failure and a sentence with %q", err, test.says)
			}
		})
	}
}
