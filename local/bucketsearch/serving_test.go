package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/query/limit"
)

func TestBranding(t *testing.T) {
	dir := t.TempDir()
	logo, text := filepath.Join(dir, "logo.svg"), filepath.Join(dir, "text")
	for path, content := range map[string]string{logo: "<svg xmlns='http://www.w3.org/2000/svg'/>", text: "text"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	brand, err := (&serving{title: " Example ", logo: logo, colour: "#25c"}).brand()
	if err != nil || brand.Title() != "Example" || !brand.HasLogo() || brand.Colour.String() != "#2255cc" {
		t.Errorf("%q, %v, %v", brand.Title(), brand.Colour, err)
	}
	if plain, err := new(serving).brand(); err != nil || plain.Title() != "Bucketsearch" || plain.HasLogo() || plain.Colour != nil {
		t.Errorf("without flags: %+v, %v", plain, err)
	}
	for want, wrong := range map[string]serving{
		"--colour: ":          {colour: "blue"},
		"--title: ":           {title: strings.Repeat("x", 99)},
		"--logo " + text:      {logo: text},
		"--logo " + dir + "/": {logo: filepath.Join(dir, "absent")},
	} {
		if _, err := wrong.brand(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", wrong, err, want)
		}
	}
}

func TestVisitors(t *testing.T) {
	got, err := (&serving{rate: 5, proxies: []string{"127.0.0.1", "10.1.0.0/8", "2001:db8::1"}}).limits()
	want := limit.Options{Rate: 5, Proxies: []netip.Prefix{
		netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::1/128"),
	}}
	if diff := cmp.Diff(want, got, cmp.Comparer(func(a, b netip.Prefix) bool { return a == b })); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	for want, wrong := range map[string]serving{
		`--proxy is "example.org"; write`: {proxies: []string{"example.org"}},
		`--proxy is "10.0.0.0/33"; write`: {proxies: []string{"10.0.0.0/33"}},
	} {
		if _, err := wrong.limits(); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%+v: %v, want %s", wrong, err, want)
		}
	}
}

func TestOnlyThisMachineReadsALoopbackPage(t *testing.T) {
	page := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
	for _, test := range []struct {
		listening, host string
		want            int
	}{
		{"127.0.0.1:8080", "127.0.0.1:8080", http.StatusOK},
		{"127.0.0.1:8080", "localhost:8080", http.StatusOK},
		{"[::1]:8080", "[::1]:8080", http.StatusOK},
		{"127.0.0.1:8080", "evil.example:8080", http.StatusMisdirectedRequest},
		{"127.0.0.1:8080", "127.0.0.1.evil.example", http.StatusMisdirectedRequest},
		{"0.0.0.0:8080", "search.example", http.StatusOK},
	} {
		listening, err := net.ResolveTCPAddr("tcp", test.listening)
		if err != nil {
			t.Fatal(err)
		}
		asked := httptest.NewRequest(http.MethodGet, "/search?q=x", nil)
		asked.Host = test.host
		answer := httptest.NewRecorder()
		handlerFor(listening, page).ServeHTTP(answer, asked)
		if answer.Code != test.want {
			t.Errorf("%s asked as %s: %d, want %d", test.listening, test.host, answer.Code, test.want)
		}
	}
}
