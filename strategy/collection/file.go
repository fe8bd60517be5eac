package collection

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/literal"
)

// The values that a file without them has.
const (
	defaultDelay       = Duration(time.Second)
	defaultConnections = 30
)

// The greatest values that a file may have.
const (
	MaxDelay           = time.Hour
	MaxHostConnections = 100
	maxConnections     = 10_000
)

// ReadFile reads a configuration file of at most MaxBytes, and the sample files of
// its topic, relative to it. The error lists all mistakes, one a line, with file,
// line and the expected value. The collection is valid, except that the caller must
// set its agent if the file has none.
func ReadFile(path string) (Collection, error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return Collection{}, fmt.Errorf("cannot read collection %s: %w", path, err)
	}
	defer root.Close()
	content, err := readAtMost(root.FS(), filepath.Base(path), MaxBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return Collection{}, fmt.Errorf("cannot read collection %s: there is no such file", path)
	}
	if err != nil {
		return Collection{}, fmt.Errorf("cannot read collection %s: %w", path, err)
	}
	return Parse(path, content, root.FS())
}

// Parse reads the content of a configuration file as ReadFile does. Sample files are
// read from beside.
func Parse(name string, content []byte, beside fs.FS) (Collection, error) {
	d, t, err := parseDocument(name, content)
	if err != nil {
		return Collection{}, err
	}
	var c Collection
	t.text("name", assign(&c.Name, ValidName))
	if c.Name == "" && len(d.problems) == 0 {
		d.wrong("name", errors.New(`no name; write it like name = "docs"`))
	}
	t.seeds(&c)
	t.texts("include", appendValid(&c.Include, validPattern))
	t.texts("exclude", appendValid(&c.Exclude, validPattern))
	if t.texts("drop_parameters", appendValid(&c.DropParameters, validParameter)) && c.DropParameters == nil {
		c.DropParameters = []string{}
	}
	t.texts("sitemaps", appendValid(&c.Sitemaps, validSitemap))
	t.texts("allow", appendValid(&c.Allow, validAllow))
	c.Delay = defaultDelay
	t.text("delay", func(text string) (err error) {
		c.Delay, err = parseDelay(text)
		return err
	})
	c.Connections = int(t.number("connections", defaultConnections, 1, maxConnections))
	c.HostConnections = int(t.number("host_connections", 1, 1, MaxHostConnections))
	c.Pages = t.number("pages", 0, 0, math.MaxInt64)
	c.HostPages = t.number("host_pages", 0, 0, math.MaxInt64)
	c.PatternPages = t.pages("pattern_pages")
	t.text("language", assign(&c.Language, validLanguage))
	t.text("schedule", assign(&c.Schedule, Schedule.Validate))
	t.text("agent", assign(&c.Agent, validContact))
	c.Topic = t.topic(beside)
	t.end()
	if err := d.err(); err != nil {
		return Collection{}, err
	}
	return c, c.validFile(name)
}

// validFile makes the checks that need the whole file, such as the number of patterns.
func (c Collection) validFile(name string) error {
	if c.Agent == "" {
		c.Agent = "-"
	}
	if err := c.Validate(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// seeds reads the seeds and the seed tables. Seeds without a scope and depth of their
// own get those of the file.
func (t *table) seeds(c *Collection) {
	usual := t.seed(Seed{Scope: Host, Depth: Unlimited})
	t.texts("seeds", func(url string) error {
		seed := usual
		seed.URL = url
		c.Seeds = append(c.Seeds, seed)
		return validSeed(url)
	})
	for _, each := range t.tables("seed") {
		seed := each.seed(usual)
		each.text("url", assign(&seed.URL, validSeed))
		if _, found := each.values["url"]; !found {
			each.wrong("", errors.New("seed without a url"))
		}
		each.end()
		c.Seeds = append(c.Seeds, seed)
	}
	c.Seeds = Collection{}.With(c.Seeds).Seeds
	if len(c.Seeds) == 0 && len(t.document.problems) == 0 {
		t.wrong("seeds", errors.New(`no seeds: want addresses at which to begin, such as seeds = ["https://example.org/"]`))
	}
}

// seed returns usual with the scope and depth of the table, where it has them.
func (t *table) seed(usual Seed) Seed {
	t.text("scope", assign(&usual.Scope, func(scope Scope) error {
		_, err := ParseScope(string(scope))
		return err
	}))
	if depth, found := t.value("depth"); found {
		n, ok := depth.(int64)
		switch {
		case depth == "unlimited":
			usual.Depth = Unlimited
		case ok && n >= 0 && n <= math.MaxUint16:
			usual.Depth = int(n)
		default:
			t.wrong("depth", literal.Wrong(join(t.path, "depth"), depth, `a number of links such as 3, or "unlimited"`))
		}
	}
	return usual
}

// assign returns a function that sets a value to a valid text.
func assign[T ~string](value *T, valid func(T) error) func(string) error {
	return func(text string) error {
		*value = T(text)
		return valid(*value)
	}
}

// appendValid returns a function that appends a valid text to a list.
func appendValid(list *[]string, valid func(string) error) func(string) error {
	return func(text string) error {
		*list = append(*list, text)
		return valid(text)
	}
}

func parseDelay(text string) (Duration, error) {
	delay, err := literal.Duration("delay", text, MaxDelay)
	if err == nil && delay%time.Millisecond != 0 {
		err = literal.Wrong("delay", text, "a number of whole milliseconds, such as 500ms")
	}
	return Duration(delay), err
}

func validSeed(url string) error {
	_, err := ParseSeed(url)
	return err
}

func validPattern(text string) error {
	_, err := parsePattern(text)
	return err
}

func validParameter(text string) error {
	_, err := address.NewCleaner([]string{text})
	return err
}

// validContact checks that an agent names an address to contact.
func validContact(agent string) error {
	if !strings.Contains(agent, "://") && !strings.Contains(agent, "@") {
		return fmt.Errorf("agent %q: want a name and where to reach you, such as ExampleBot/1.0 (+https://example.org/bot)", agent)
	}
	return validAgent(agent)
}
