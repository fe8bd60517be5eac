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

// The defaults of settings that a collection file does not set.
const (
	defaultDelay       = Duration(time.Second)
	defaultConnections = 30
)

// The greatest values that a collection file may set.
const (
	MaxDelay           = time.Hour
	MaxHostConnections = 100
	maxConnections     = 10_000
)

// ReadFile reads a collection from its file, of at most MaxBytes, and from the sample files of its
// topic, whose paths are relative to that file. If the file has mistakes, the error lists them
// all, one a line, each with file, line and the expected value. The collection that is returned is
// valid, except that the caller must set its agent if the file has none.
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

// Parse returns the collection that the content of a collection file describes. It makes the same
// checks as ReadFile, and fails with the same errors. The parameter name is the name of the file in
// these errors. Paths of sample files are relative to the root of the given file system.
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
	c.Assets = t.truth("assets")
	t.text("agent", assign(&c.Agent, validContact))
	c.Topic = t.topic(beside)
	t.end()
	if err := d.err(); err != nil {
		return Collection{}, err
	}
	return c, c.validFile(name)
}

// validFile returns the error of Validate for a collection that was read from the file name.
// Unlike Validate, it accepts a collection without an agent.
func (c Collection) validFile(name string) error {
	if c.Agent == "" {
		c.Agent = "-"
	}
	if err := c.Validate(); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// seeds sets c.Seeds from the root table of a collection file: from its list seeds and its tables
// [[seed]]. Seeds without a scope or depth of their own get those of the root table.
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

// seed reads a seed from a table [[seed]] of a collection file. If the table sets no scope, the seed
// gets that of the parameter usual; likewise for the depth.
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

// assign returns a function that stores a text in *value, and then checks the text with the function
// valid. The method table.text calls the returned function with the text of a setting.
func assign[T ~string](value *T, valid func(T) error) func(string) error {
	return func(text string) error {
		*value = T(text)
		return valid(*value)
	}
}

// appendValid returns a function that appends a text to *list, and then checks the text with the
// function valid. The method table.texts calls the returned function with each text of a list.
func appendValid(list *[]string, valid func(string) error) func(string) error {
	return func(text string) error {
		*list = append(*list, text)
		return valid(text)
	}
}

// parseDelay parses a duration such as "1.5s": whole milliseconds, at most MaxDelay.
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

// validContact returns an error unless a User-Agent has a URL or an e-mail address by
// which site owners reach the operator.
func validContact(agent string) error {
	if !strings.Contains(agent, "://") && !strings.Contains(agent, "@") {
		return fmt.Errorf("agent %q: want a name and where to reach you, such as ExampleBot/1.0 (+https://example.org/bot)", agent)
	}
	return validAgent(agent)
}
