package robots

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/strategy/address"
)

const agent = "ExampleBot/1.0 (+https://example.org/bot)"

func TestAllows(t *testing.T) {
	for _, test := range []struct {
		name, body       string
		allowed, refused string // paths, space-separated
	}{
		{"empty file", "", "/ /a", ""},
		{"everyone", "User-agent: *\nDisallow: /a", "/ /b /A", "/a /ab /a/b /a?b"},
		{"empty disallow", "User-agent: *\nDisallow:", "/ /a", ""},
		{"robots.txt itself", "User-agent: *\nDisallow: /", "/robots.txt", "/ /robots.txt?x /robots.txtx"},
		{"own group replaces that of everyone", "User-agent: *\nDisallow: /a\nUser-agent: examplebot\nDisallow: /b", "/a", "/b"},
		{"own empty group", "User-agent: *\nDisallow: /\n\nUser-agent: ExampleBot\nDisallow:", "/", ""},
		{"own name with a version", "User-agent: EXAMPLEBOT/2.1\nDisallow: /", "", "/a"},
		{"name that begins like ours", "User-agent: ExampleBotNews\nDisallow: /\nUser-agent: Example\nDisallow: /", "/a", ""},
		{"several names", "User-agent: x\nUser-agent: ExampleBot\nUser-agent: y\nDisallow: /a", "/b", "/a"},
		{"groups of one name are merged", "User-agent: ExampleBot\nDisallow: /a\nUser-agent: x\nDisallow: /b\nUser-agent: ExampleBot\nDisallow: /c", "/b", "/a /c"},
		{"other lines do not end the names", "User-agent: ExampleBot\nSitemap: https://x/\nUser-agent: x\nDisallow: /a", "/b", "/a"},
		{"rule before any name", "Disallow: /\nUser-agent: *\nDisallow: /a", "/b", "/a"},
		{"comments and space", " user-AGENT : * # all\n\tDisallow\t: /a # not this\n#Disallow: /b", "/b", "/a"},
		{"byte order mark", "\uFEFFUser-agent: *\nDisallow: /a", "/b", "/a"},
		{"line ends of all kinds", "User-agent: *\rDisallow: /a\r\nDisallow: /b\n\nDisallow: /c", "/d", "/a /b /c"},
		{"bad lines", "User-agent: *\nCrawl-delay: soon\nDisallow /b /c\nDisallow\n: :\n\x00\xff\nDisallow: /a", "/b", "/a"},
		{"missing colons", "user-agent ExampleBot\ndisallow\t /a # b", "/b", "/a"},
		{"misspelt", "Useragent: ExampleBot\nDissallow: /a\nDISALOW: /b\nuser agent: x\ndisallow: /c", "/c", "/a /b"},
		{"star and more", "User-agent: * all\nDisallow: /a\nUser-agent: *bot\nDisallow: /b", "/b", "/a"},
		{"a delay does not end the names", "User-agent: ExampleBot\nCrawl-delay: 1\nUser-agent: x\nDisallow: /a", "/b", "/a"},
		{"a page instead", "<!DOCTYPE html>\n<p>User-agent: *</p>\n<p>Disallow: /</p>", "/", ""},
		{"longest wins", "User-agent: *\nAllow: /a/b\nDisallow: /a\nDisallow: /a/b/c", "/ /a/b /a/bc", "/a /a/c /a/b/c"},
		{"allow wins at equal length", "User-agent: *\nDisallow: /a\nAllow: /a\nAllow: /b\nDisallow: /b", "/a /b", ""},
		{"length counts octets of the pattern", "User-agent: *\nAllow: /a\nDisallow: /*.html", "/a /a/b", "/a.html /x.html"},
		{"star", "User-agent: *\nDisallow: /fish*.php", "/Fish.php /a/fish.php /fish.asp", "/fish.php /fish/x.php?y"},
		{"end", "User-agent: *\nDisallow: /*.php$", "/a.php?b /a.php5", "/a.php /b/c.php"},
		{"end without star", "User-agent: *\nDisallow: /a$", "/ab /a/", "/a"},
		{"end must not overlap", "User-agent: *\nDisallow: /ab*b$", "/ab", "/abb /abxb"},
		{"stars in a row", "User-agent: *\nDisallow: /***a**b", "/c /ba", "/ab /xxaxxb"},
		{"dollar inside is itself", "User-agent: *\nDisallow: /a$b", "/a", "/a$b"},
		{"leading star", "User-agent: *\nDisallow: *.pdf", "/a", "/a/b.pdf"},
		{"query", "User-agent: *\nDisallow: /*?*sid=", "/a?b /asid=", "/a?sid=1 /a?b&sid=1"},
		{"escapes", "User-agent: *\nDisallow: /%7ejoe\nDisallow: /caf%c3%a9\nDisallow: /ツ", "/joe", "/~joe /caf%C3%A9 /%E3%83%84/x"},
		{"reserved characters are not their escapes", "User-agent: *\nDisallow: /a%2Fb", "/a/b", "/a%2Fb /a%2fb"},
		{"escaped star and dollar", "User-agent: *\nDisallow: /file-with-a-%2A.html\nDisallow: /foo-%24", "/file-with-a-b.html /foo-", "/file-with-a-*.html /file-with-a-%2a.html /foo-$ /foo-%24x"},
		{"star matches a star", "User-agent: *\nDisallow: /a*b$", "/a*c", "/a*b /a$b"},
		{"many stars are one", "User-agent: *\nDisallow: /" + strings.Repeat("*", 10_000) + "a", "/b", "/ba"},
		{"RFC 9309, section 5.1", "User-Agent: *\nDisallow: *.gif$\nDisallow: /example/\nAllow: /publications/\n\nUser-Agent: foobot\nDisallow:/\nAllow:/example/page.html\n\n" +
			"User-Agent: barbot\nUser-Agent: bazbot\nDisallow: /example/page.html\n\nUser-Agent: quxbot\n",
			"/publications/ /a.gif?b", "/example/page.html /a.gif"},
		{"RFC 9309, section 5.2", "User-Agent: examplebot\nAllow: /example/page/\nDisallow: /example/page/disallowed.gif",
			"/example/page/ /example/page/allowed.gif", "/example/page/disallowed.gif"},
	} {
		t.Run(test.name, func(t *testing.T) {
			rules := Parse(200, []byte(test.body), agent)
			for _, path := range strings.Fields(test.allowed) {
				if !rules.Allows(path) {
					t.Errorf("%s is refused", path)
				}
			}
			for _, path := range strings.Fields(test.refused) {
				if rules.Allows(path) {
					t.Errorf("%s is allowed", path)
				}
			}
		})
	}
}

func TestStatus(t *testing.T) {
	body := []byte("User-agent: *\nDisallow: /a")
	for _, test := range []struct {
		status int
		a, b   bool // whether /a and /b are allowed
	}{
		{200, false, true}, {206, false, true}, {301, true, true}, {404, true, true}, {403, true, true}, {429, false, false}, {99, false, false},
		{500, false, false}, {503, false, false}, {0, false, false}, {-1, false, false}, {600, false, false},
	} {
		rules := Parse(test.status, body, agent)
		if a, b := rules.Allows("/a"), rules.Allows("/b"); a != test.a || b != test.b {
			t.Errorf("status %d: /a %v, /b %v, want %v, %v", test.status, a, b, test.a, test.b)
		}
		if !rules.Allows("/robots.txt") {
			t.Errorf("status %d: /robots.txt is refused", test.status)
		}
		if Reachable(test.status) != test.b {
			t.Errorf("status %d: reachable %v", test.status, !test.b)
		}
	}
}

func TestDelay(t *testing.T) {
	for _, test := range []struct {
		body string
		want time.Duration
	}{
		{"", 0},
		{"User-agent: *\nCrawl-delay: 2", 2 * time.Second},
		{"User-agent: *\nCrawl-delay: .5", 500 * time.Millisecond},
		{"User-agent: *\nCrawl-delay: 2\nCrawl-delay: 1", 2 * time.Second},
		{"User-agent: *\nCrawl-delay: 86400", MaxDelay},
		{"User-agent: *\nCrawl-delay: +Inf", MaxDelay},
		{"User-agent: *\nCrawl-delay: -1", 0},
		{"User-agent: *\nCrawl-delay: NaN", 0},
		{"User-agent: *\nCrawl-delay: 1e999", 0},
		{"User-agent: *\nCrawl-delay: 3\nDisallow:\nUser-agent: ExampleBot\nDisallow: /a", 0},
		{"User-agent: x\nCrawl-delay: 3", 0},
	} {
		if got := Parse(200, []byte(test.body), agent).Delay(); got != test.want {
			t.Errorf("%q: delay %s, want %s", test.body, got, test.want)
		}
	}
}

func TestAgents(t *testing.T) {
	body := []byte("User-agent: Mozilla\nDisallow: /mozilla\nUser-agent: ExampleBot\nDisallow: /example\nUser-agent: *\nDisallow: /all")
	for agent, want := range map[string]string{
		"ExampleBot": "/example", "examplebot/1.0 (+https://example.org/bot)": "/example",
		"Mozilla/5.0 (compatible; ExampleBot/0.1; https://www.example.com/bot.html)": "/example",
		"Mozilla/5.0 (X11)": "/mozilla", "ExampleBotX": "/all", "": "/all", "(compatible; ExampleBot)": "/all", "機械": "/all",
	} {
		rules := Parse(200, body, agent)
		for _, path := range []string{"/mozilla", "/example", "/all"} {
			if rules.Allows(path) == (path == want) {
				t.Errorf("agent %q: Allows(%s) = %v", agent, path, path != want)
			}
		}
	}
}

func TestSitemaps(t *testing.T) {
	body := "\uFEFFSitemap: https://a.example/1.xml\nUser-agent: x\nDisallow: /\nSITEMAP:http://b.example/2 # two\n" +
		"site-map: HTTPS://c.example\n" +
		"Sitemap: https://a.example/1.xml\nSitemap: /relative\nSitemap: ftp://a.example/\nSitemap: https://\nSitemap:\n" +
		"Sitemap: https://a.example/" + strings.Repeat("a", address.MaxBytes)
	want := []string{"https://a.example/1.xml", "http://b.example/2", "HTTPS://c.example"}
	if diff := cmp.Diff(want, Parse(200, []byte(body), agent).Sitemaps()); diff != "" {
		t.Error(diff)
	}
	var many strings.Builder
	for i := range 2 * MaxSitemaps {
		fmt.Fprintf(&many, "Sitemap: https://a.example/%d\n", i)
	}
	if n := len(Parse(200, []byte(many.String()), agent).Sitemaps()); n != MaxSitemaps {
		t.Errorf("%d sitemaps of %d", n, 2*MaxSitemaps)
	}
	if got := Parse(404, []byte(body), agent).Sitemaps(); got != nil {
		t.Errorf("sitemaps of a missing file: %q", got)
	}
}

func TestCutAtMaxBytes(t *testing.T) {
	head := "User-agent: *\nDisallow: /first\n"
	filler := strings.Repeat("#", MaxBytes-len(head)-len("\nDisallow: /se"))
	rules := Parse(200, []byte(head+filler+"\nDisallow: /second\n"), agent)
	for path, want := range map[string]bool{"/first": false, "/second": true, "/sea": true} {
		if got := rules.Allows(path); got != want {
			t.Errorf("Allows(%s) = %v, want %v", path, got, want)
		}
	}
}

func TestHostileFileIsQuick(t *testing.T) {
	body := "User-agent: *\n" + strings.Repeat("Disallow: *a*a*a*aaaaaaaaab\n", MaxBytes/29)
	rules := Parse(200, []byte(body), agent)
	begun := time.Now()
	if path := "/" + strings.Repeat("a", 2000); !rules.Allows(path) {
		t.Errorf("%.10s… is refused", path)
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("one decision took %s", took)
	}
}

// FuzzPattern proves that the linear matcher has the same result as a backtracking one.
func FuzzPattern(f *testing.F) {
	f.Add("/a*b$", "/axb")
	f.Add("*aa*a", "/aaa")
	f.Add("$$", "$")
	f.Fuzz(func(t *testing.T, value, path string) {
		p, ok := newPattern(value)
		if !ok {
			return
		}
		text, whole := strings.CutSuffix(address.NormalEscapes(value), "$")
		text = regexp.QuoteMeta(strings.ReplaceAll(text, "$", "%24"))
		expression := "(?s)^" + strings.ReplaceAll(text, `\*`, ".*")
		if whole {
			expression += "$"
		}
		path = escapePath(path)
		if want := regexp.MustCompile(expression).MatchString(path); p.matches(path) != want {
			t.Errorf("pattern %q, path %q: match %v, want %v", value, path, !want, want)
		}
	})
}

func FuzzRobots(f *testing.F) {
	f.Add("User-agent: *\nDisallow: /a*b$\nAllow: /\nCrawl-delay: 1", "/a?b")
	f.Add("\uFEFFuser-agent:ExampleBot/1\rdisallow:%7e%\xff", "/~")
	f.Add("User-agent: *\nDisallow: ***$$", "/robots.txt")
	f.Add("useragent *\ndisalow /\nSite-Map: https://b/#c", "/")
	f.Fuzz(func(t *testing.T, body, path string) {
		rules := Parse(200, []byte(body), agent)
		if d := rules.Delay(); d < 0 || d > MaxDelay {
			t.Errorf("delay %s", d)
		}
		if !rules.Allows("/robots.txt") {
			t.Error("/robots.txt is refused")
		}
		if !rules.Allows(path) && !strings.Contains(strings.ToLower(body), "dis") && !strings.Contains(strings.ToLower(body), "diasllow") {
			t.Errorf("%q is refused by nothing", path)
		}
		for _, s := range rules.Sitemaps() {
			if !strings.Contains(body, s) {
				t.Errorf("sitemap %q comes from nowhere", s)
			}
		}
	})
}
