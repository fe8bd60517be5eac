package docsearch

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

// startURL is an element of start_urls that is an object. Its other keys have no equivalent.
type startURL struct {
	URL       string              `json:"url"`
	Variables map[string][]string `json:"variables"`
}

// variable matches a variable in a start URL, such as (?P<version>.*?).
var variable = regexp.MustCompile(`\(\?P?<([A-Za-z_][A-Za-z0-9_]*)>[^()]*\)`)

// startURLs reads start_urls: a list whose elements are addresses or objects (see startURL), or a single
// address.
func (c *converter) startURLs() {
	const key = "start_urls"
	var list []json.RawMessage
	if content := c.values[key]; bytes.HasPrefix(content, []byte(`"`)) {
		list = []json.RawMessage{content}
	} else if json.Unmarshal(content, &list) != nil {
		c.wrong(key, `want a list of addresses such as ["https://example.org/docs/"]`)
		return
	}
	without := map[string]bool{}
	for i, element := range list {
		var u startURL
		var keys map[string]json.RawMessage
		if json.Unmarshal(element, &u.URL) != nil && (json.Unmarshal(element, &u) != nil || json.Unmarshal(element, &keys) != nil) {
			c.wrong(key, "number %d is neither an address nor an object with a url", i+1)
			continue
		}
		for other := range keys {
			without[other] = true
		}
		c.expand(u)
	}
	delete(without, "url")
	delete(without, "variables")
	for _, other := range slices.Sorted(maps.Keys(without)) {
		c.without(key + "." + other)
	}
}

// expand adds a seed for each combination of the values of a start URL's variables.
func (c *converter) expand(u startURL) {
	const key = "start_urls"
	all := []string{strings.TrimSuffix(u.URL, "$")}
	for _, match := range variable.FindAllStringSubmatch(u.URL, -1) {
		values := u.Variables[match[1]]
		if len(values) == 0 {
			c.note(key, "%q is left out, because variables has no values for %s; add the addresses that are meant to seeds", u.URL, match[1])
			return
		}
		if len(all)*len(values)+len(c.seeds) > maxURLs {
			c.wrong(key, "more than %d addresses with all values of variables", maxURLs)
			return
		}
		var next []string
		for _, url := range all {
			for _, value := range values {
				next = append(next, strings.Replace(url, match[0], value, 1))
			}
		}
		all = next
	}
	if len(all)+len(c.seeds) > maxURLs {
		c.wrong(key, "more than %d addresses", maxURLs)
		return
	}
	for _, url := range all {
		c.seed(strings.ReplaceAll(url, `\`, ""), u.URL)
	}
}

// seed adds a seed. The parameter written is the start URL as it stands in the configuration.
func (c *converter) seed(url, written string) {
	at, err := collection.ParseSeed(url)
	switch {
	case strings.ContainsAny(url, `()[]|*^{}`):
		c.note("start_urls", "%q is left out, because it is an expression and no address; add the addresses that are meant to seeds", written)
	case err != nil:
		c.wrong("start_urls", "%w", err)
	default:
		c.seeds = append(c.seeds, at)
		c.file.Seeds = append(c.file.Seeds, at.URL)
	}
}

// scope sets scope and include so that a page belongs to the collection if its address begins with a
// start URL, as in DocSearch. If all start URLs end with a slash, the scope prefix has this effect;
// otherwise the scope is host, and include has a pattern for each start URL:
//
//	start URLs                                          scope   include
//	https://a.example/docs/                             prefix  none
//	https://a.example/docs and https://a.example/x/     host    http*://a.example/docs*, http*://a.example/x/*
func (c *converter) scope() {
	c.file.Scope = string(collection.Prefix)
	for _, at := range c.seeds {
		if strings.HasSuffix(at.Path, "/") && !strings.Contains(at.Path, "?") {
			continue
		}
		c.file.Scope = string(collection.Host)
	}
	if c.file.Scope == string(collection.Prefix) {
		return
	}
	for _, at := range c.seeds {
		pattern := fmt.Sprintf("http*://%s%s*", at.Host, at.Path)
		if !slices.Contains(c.file.Include, pattern) {
			c.file.Include = append(c.file.Include, pattern)
		}
	}
}
