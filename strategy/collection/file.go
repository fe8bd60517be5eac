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
	"github.com/bucketsearch/bucketsearch/strategy/literal/tables"
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
	d, t, err := tables.Parse(name, content)
	if err != nil {
		return Collection{}, err
	}
	var c Collection
	t.Text("name", assign(&c.Name, ValidName))
	if c.Name == "" && t.IsSound() {
		t.Wrong("name", errors.New(`no name; write it like name = "docs"`))
	}
	readSeeds(t, &c)
	t.Texts("include", appendValid(&c.Include, validPattern))
	t.Texts("exclude", appendValid(&c.Exclude, validPattern))
	if t.Texts("drop_parameters", appendValid(&c.DropParameters, validParameter)) && c.DropParameters == nil {
		c.DropParameters = []string{}
	}
	t.Texts("sitemaps", appendValid(&c.Sitemaps, validSitemap))
	t.Texts("allow", appendValid(&c.Allow, validAllow))
	c.Delay = defaultDelay
	t.Text("delay", func(text string) (err error) {
		c.Delay, err = parseDelay(text)
		return err
	})
	c.Connections = int(t.Number("connections", defaultConnections, 1, maxConnections))
	c.HostConnections = int(t.Number("host_connections", 1, 1, MaxHostConnections))
	c.Pages = t.Number("pages", 0, 0, math.MaxInt64)
	c.HostPages = t.Number("host_pages", 0, 0, math.MaxInt64)
	c.PatternPages = readPages(t, "pattern_pages")
	t.Text("language", assign(&c.Language, validLanguage))
	t.Text("schedule", assign(&c.Schedule, Schedule.Validate))
	c.Assets = t.Truth("assets")
	t.Text("agent", assign(&c.Agent, validContact))
	c.Topic = readTopic(t, beside)
	t.End()
	if err := d.Err(); err != nil {
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

// readSeeds sets c.Seeds from the root table of a collection file: from its list seeds and its tables
// [[seed]]. Seeds without a scope or depth of their own get those of the root table.
func readSeeds(t *tables.Table, c *Collection) {
	usual := readSeed(t, Seed{Scope: Host, Depth: Unlimited})
	t.Texts("seeds", func(url string) error {
		seed := usual
		seed.URL = url
		c.Seeds = append(c.Seeds, seed)
		return validSeed(url)
	})
	for _, each := range t.Tables("seed") {
		seed := readSeed(each, usual)
		each.Text("url", assign(&seed.URL, validSeed))
		if !each.Has("url") {
			each.Wrong("", errors.New("seed without a url"))
		}
		each.End()
		c.Seeds = append(c.Seeds, seed)
	}
	c.Seeds = Collection{}.With(c.Seeds).Seeds
	if len(c.Seeds) == 0 && t.IsSound() {
		t.Wrong("seeds", errors.New(`no seeds: want addresses at which to begin, such as seeds = ["https://example.org/"]`))
	}
}

// readSeed reads a seed from a table [[seed]] of a collection file. If the table sets no scope, the seed
// gets that of the parameter usual; likewise for the depth.
func readSeed(t *tables.Table, usual Seed) Seed {
	t.Text("scope", assign(&usual.Scope, func(scope Scope) error {
		_, err := ParseScope(string(scope))
		return err
	}))
	if depth, found := t.Value("depth"); found {
		n, ok := depth.(int64)
		switch {
		case depth == "unlimited":
			usual.Depth = Unlimited
		case ok && n >= 0 && n <= math.MaxUint16:
			usual.Depth = int(n)
		default:
			t.Wrong("depth", literal.Wrong(t.Name("depth"), depth, `a number of links such as 3, or "unlimited"`))
		}
	}
	return usual
}

// readPages returns the number of pages under a key: Unlimited for "unlimited", and 0 if the
// key is absent.
func readPages(t *tables.Table, key string) int64 {
	value, found := t.Value(key)
	n, _ := value.(int64)
	switch {
	case !found:
		return 0
	case value == "unlimited":
		return Unlimited
	case n < 1:
		t.Wrong(key, literal.Wrong(t.Name(key), value, `a number of pages, 1 or more, or "unlimited"`))
		return 0
	default:
		return n
	}
}

// assign returns a function that stores a text in *value, and then checks the text with the function
// valid. The method Table.Text calls the returned function with the text of a setting.
func assign[T ~string](value *T, valid func(T) error) func(string) error {
	return func(text string) error {
		*value = T(text)
		return valid(*value)
	}
}

// appendValid returns a function that appends a text to *list, and then checks the text with the
// function valid. The method Table.Texts calls the returned function with each text of a list.
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
