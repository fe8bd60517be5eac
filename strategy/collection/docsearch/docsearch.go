// Package docsearch turns a configuration of docs-scraper or of DocSearch's former scraper into a
// collection file. Both programs crawl documentation for a search box, and read the same JSON:
//
//	{
//	  "index_name": "example",
//	  "start_urls": ["https://example.org/docs/", {"url": "https://example.org/api", "tags": ["api"]}],
//	  "stop_urls": ["/changelog", "\\.pdf$"],
//	  "sitemap_urls": ["https://example.org/sitemap.xml"],
//	  "selectors": {"lvl0": "h1", "lvl1": {"selector": "h2", "default_value": "Docs"}, "text": "p"}
//	}
//
// For the format see https://docsearch.algolia.com/docs/legacy/config-file and
// https://github.com/meilisearch/docs-scraper. These keys are carried over:
//
//	key                      in the collection file
//	index_name, index_uid    name, in lower case and with hyphens
//	start_urls               seeds; a page is in scope if its address begins with a start URL
//	variables of a start URL a seed for each combination of their values
//	stop_urls                exclude
//	sitemap_urls             sitemaps
//	remove_get_params        drop_parameters
//	user_agent               agent, if it has an address at which the owner of the crawler is reached
//
// For each other key, Convert returns a Note that says why the key has no equivalent. Keys whose value
// changes nothing here need no Note.
package docsearch

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/pelletier/go-toml/v2"

	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/literal"
)

const (
	// MaxBytes is the greatest size of a configuration, in bytes.
	MaxBytes = 1 << 20
	maxURLs  = 1000 // greatest number of start URLs, after their variables are replaced by values
)

// Note says what is not carried over from a configuration, or not as it is.
type Note struct {
	Line int    // line of the key in the configuration
	Key  string // key of the configuration, such as "selectors", or "start_urls.tags"
	Text string // a clause that says why
}

// IsConfig reports whether a file may be a configuration: whether its first character, apart from a byte
// order mark and spaces, is the { of a JSON object. The parameter beginning has the first bytes of the
// file. Archives of pages begin with other bytes.
func IsConfig(beginning []byte) bool {
	beginning = bytes.TrimLeft(bytes.TrimPrefix(beginning, []byte("\ufeff")), " \t\r\n")
	return bytes.HasPrefix(beginning, []byte("{"))
}

// Convert turns a configuration, the content of a JSON file, into a collection file in TOML, which
// collection.Parse can read. The parameter name is the path of the JSON file. Errors and the first line
// of the result name this path; an error about a key also has its line and name.
func Convert(name string, content []byte) (file []byte, notes []Note, err error) {
	if len(content) > MaxBytes {
		return nil, nil, fmt.Errorf("%s has more than %d bytes, the most that is read of a configuration", name, MaxBytes)
	}
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	var values map[string]json.RawMessage
	if err := literal.JSON(content, &values); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	c := converter{name: name, values: values, lines: linesOf(content)}
	for _, key := range slices.SortedFunc(maps.Keys(values), func(a, b string) int { return cmp.Or(c.lines[a]-c.lines[b], strings.Compare(a, b)) }) {
		c.convert(key)
	}
	c.scope()
	if err := c.complete(); err != nil {
		return nil, nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "# made of %q, a configuration of DocSearch\n", name)
	encoder := toml.NewEncoder(&b)
	encoder.SetArraysMultiline(true)
	if err := encoder.Encode(c.file); err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	if _, err := collection.Parse(name, b.Bytes(), fstest.MapFS{}); err != nil {
		return nil, nil, fmt.Errorf("cannot make a collection of %w", err)
	}
	slices.SortStableFunc(c.notes, func(a, b Note) int { return a.Line - b.Line })
	return b.Bytes(), c.notes, nil
}

// collectionFile has the settings of a collection file that a configuration can set.
type collectionFile struct {
	Name           string   `toml:"name"`
	Seeds          []string `toml:"seeds"`
	Scope          string   `toml:"scope"`
	Include        []string `toml:"include,omitempty"`
	Exclude        []string `toml:"exclude,omitempty"`
	DropParameters []string `toml:"drop_parameters,omitempty"`
	Sitemaps       []string `toml:"sitemaps,omitempty"`
	Agent          string   `toml:"agent,omitempty"`
}

// converter is the state of Convert.
type converter struct {
	name     string
	values   map[string]json.RawMessage
	lines    map[string]int // line of each key
	seeds    []address.Address
	file     collectionFile
	notes    []Note
	problems []error
}

func (c *converter) note(key, format string, args ...any) {
	line := c.lines[strings.SplitN(key, ".", 2)[0]]
	c.notes = append(c.notes, Note{line, key, fmt.Sprintf(format, args...)})
}

func (c *converter) wrong(key, format string, args ...any) {
	c.problems = append(c.problems, fmt.Errorf("%s:%d: %s: %w", c.name, c.lines[key], key, fmt.Errorf(format, args...)))
}

// convert carries one key over to the collection file, or notes why not.
func (c *converter) convert(key string) {
	switch key {
	case "index_name", "index_uid":
		c.index(key)
	case "start_urls":
		c.startURLs()
	case "stop_urls":
		c.stopURLs()
	case "sitemap_urls":
		c.file.Sitemaps = c.texts(key)
	case "user_agent":
		c.file.Agent = c.text(key)
		if !strings.Contains(c.file.Agent, "://") && !strings.Contains(c.file.Agent, "@") {
			c.file.Agent = ""
			c.note(key, "left out, since an agent here says where its owner is reached, such as ExampleBot/1.0 (+https://example.org/bot)")
		}
	case "remove_get_params":
		if c.truth(key) {
			c.file.DropParameters = []string{"*"}
		}
	case "allowed_domains": // in the end, when all seeds are known
	default:
		c.without(key)
	}
}

var notOfName = regexp.MustCompile(`[^a-z0-9]+`)

// index sets the name of the collection from that of the index.
func (c *converter) index(key string) {
	given := c.text(key)
	name := strings.Trim(notOfName.ReplaceAllString(strings.ToLower(given), "-"), "-")
	name = strings.TrimRight(name[:min(len(name), 63)], "-")
	if name != given && name != "" {
		c.note(key, "the collection is named %s, for its name has lower-case letters, digits and hyphens only", name)
	}
	c.file.Name = cmp.Or(name, c.file.Name)
}

// stopURLs turns stop_urls into patterns of the setting exclude. A stop URL is a regular expression that
// matches any part of an address:
//
//	stop URL                          pattern
//	without special characters        */changelog*
//	the same, beginning with http     https://a.example/old*
//	any other regular expression      re:\.pdf$
//	one that Go's regexp cannot read  none, but a Note
//
// A dot does not count as a special character.
func (c *converter) stopURLs() {
	for _, text := range c.texts("stop_urls") {
		if strings.ReplaceAll(regexp.QuoteMeta(text), `\.`, ".") == text {
			pattern := "*" + text + "*" // no expression, unless a dot is meant as any character
			if strings.HasPrefix(text, "http") {
				pattern = text + "*"
			}
			c.file.Exclude = append(c.file.Exclude, pattern)
			continue
		}
		if _, err := regexp.Compile(text); err != nil {
			c.note("stop_urls", "%q is left out: it is an expression that is not known here (%v)", text, err)
			continue
		}
		c.file.Exclude = append(c.file.Exclude, "re:"+text)
	}
}

// complete checks the result, and adds what depends on several keys.
func (c *converter) complete() error {
	for _, domain := range c.texts("allowed_domains") {
		if !slices.ContainsFunc(c.seeds, func(a address.Address) bool { return a.Host == domain || strings.HasSuffix(a.Host, "."+domain) }) {
			c.note("allowed_domains", "links to %s are not followed, because no start URL is there; add a seed to follow them", domain)
		}
	}
	if len(c.problems) > 0 {
		return errors.Join(c.problems...)
	}
	if c.file.Name == "" {
		return fmt.Errorf(`%s: no index_name or index_uid; write one like "index_name": "docs"`, c.name)
	}
	if len(c.file.Seeds) == 0 {
		return fmt.Errorf(`%s: no address in start_urls at which a crawl can begin; write one like "start_urls": ["https://example.org/docs/"]`, c.name)
	}
	return nil
}
