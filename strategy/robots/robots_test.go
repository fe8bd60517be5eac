package robots

import (
	"regexp"
	"strings"
	"testing"
	"time"

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
		{"bad lines", "User-agent: *\nCrawl-delay: soon\nDisallow /b\n: :\nDisallow: /a", "/b", "/a"},
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
		{200, false, true}, {206, false, true}, {301, true, true}, {404, true, true}, {403, true, true}, {429, true, true},
		{500, false, false}, {503, false, false}, {0, false, false}, {-1, false, false}, {600, false, false},
	} {
		rules := Parse(test.status, body, agent)
		if a, b := rules.Allows("/a"), rules.Allows("/b"); a != test.a || b != test.b {
			t.Errorf("status %d: /a %v, /b %v, want %v, %v", test.status, a, b, test.a, test.b)
		}
		if !rules.Allows("/robots.txt") {
			t.Errorf("status %d: /robots.txt is refused", test.status)
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
	body := "User-agent: *\n" + strings.Repeat("Disallow: *a*a*a*a*a*a*a*a*b$\n", MaxBytes/31)
	rules := Parse(200, []byte(body), agent)
	begun := time.Now()
	if path := "/" + strings.Repeat("a", 2000); !rules.Allows(path) {
		t.Errorf("%.10s… is refused", path)
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("one decision took %s", took)
	}
}

// FuzzPattern proves that the linear matcher means what a backtracking one does.
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
		expression := "(?s)^" + strings.ReplaceAll(regexp.QuoteMeta(text), `\*`, ".*")
		if whole {
			expression += "$"
		}
		path = address.NormalEscapes(path)
		if want := regexp.MustCompile(expression).MatchString(path); p.matches(path) != want {
			t.Errorf("pattern %q, path %q: match %v, want %v", value, path, !want, want)
		}
	})
}

func FuzzRobots(f *testing.F) {
	f.Add("User-agent: *\nDisallow: /a*b$\nAllow: /\nCrawl-delay: 1", "/a?b")
	f.Add("\uFEFFuser-agent:ExampleBot/1\rdisallow:%7e%\xff", "/~")
	f.Add("User-agent: *\nDisallow: ***$$", "/robots.txt")
	f.Fuzz(func(t *testing.T, body, path string) {
		rules := Parse(200, []byte(body), agent)
		if d := rules.Delay(); d < 0 || d > MaxDelay {
			t.Errorf("delay %s", d)
		}
		if !rules.Allows("/robots.txt") {
			t.Error("/robots.txt is refused")
		}
		if !rules.Allows(path) && !strings.Contains(strings.ToLower(body), "disallow") {
			t.Errorf("%q is refused by nothing", path)
		}
	})
}
