// Package curation holds what people decide about the results of searches: synonyms (words that find each
// other), pins (pages that come first for a query), and bans (pages that are not shown). They are one
// versioned document in the bucket, as JSON:
//
//	{
//	  "synonyms": [{"words": ["postgres", "postgresql", "pg"]},
//	               {"words": ["k8s"], "also": ["kubernetes"]}],
//	  "pins": [{"queries": ["download"], "pages": ["https://example.org/download"]}],
//	  "bans": [{"pages": ["https://example.org/old/*"]}]
//	}
//
// People write it as a TOML file (see Parse). A banned page is hidden from results only: it stays stored,
// it is crawled again, and its stored copy can be read. To erase a page, forget it (see package
// takedown).
//
// # Why it is a document of its own
//
// The curation could be a part of the controls (see package control), but then an older program would
// refuse to run, because programs before 2026-11-26 refuse controls with a field that they do not know. Also, every
// function reads the controls, and their size is limited to 64 KiB. So the curation is stored apart from
// them, but under keys that begin with the prefix of the controls. Therefore the one LIST request that
// finds the controls also finds the curation. Only the query engine reads its content, once for each
// version. An older program ignores it, except that the older command verify reports its objects as
// foreign.
//
// # Damage
//
// If a version is damaged, its copy is in force, or, if the copy is damaged, too, the version before (see
// package numbered). If no version can be read, searches go on without curation. The crawl does not
// depend on the curation.
//
// # Format history
//
//   - 1: synonyms, pins and bans.
package curation

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/literal"
	"github.com/bucketsearch/bucketsearch/strategy/numbered"
)

// MaxBytes is the maximum size of a curation in JSON or as a file, in bytes.
const MaxBytes = 4 << 20

// Limits of a curation: numbers of entries, and lengths in bytes. maxRules is for the whole document; the
// others are for each set of synonyms, each pin or each ban.
const (
	maxRules      = 1000 // sets of synonyms, pins, and bans: of each so many
	maxWords      = 20   // words of a set, and as many in its list also
	maxQueries    = 100
	maxPinned     = 10 // as many as the first page of results has
	maxBanned     = 100
	maxWordBytes  = 100
	maxQueryBytes = 200
)

// Synonyms is a set of words that find each other: a query with one of them also finds pages with another
// one. Each element is one word or a phrase of a few words, such as "high availability".
type Synonyms struct {
	Words []string `json:"words" toml:"words"`
	// Also lists words for one direction: a query with one of Words also finds pages with these, but a
	// query with one of these does not find pages with Words. For example, k8s also finds kubernetes.
	Also []string `json:"also,omitempty" toml:"also,omitempty"`
}

// Pin puts pages before all other results of some queries.
type Pin struct {
	Queries []string `json:"queries" toml:"queries"` // whole queries; case and spaces do not matter (see Fold)
	Pages   []string `json:"pages" toml:"pages"`     // addresses, in the order in which they are shown
}

// Ban hides pages from results.
type Ban struct {
	Queries []string `json:"queries,omitempty" toml:"queries,omitempty"` // whole queries; none: all queries
	Pages   []string `json:"pages" toml:"pages"`                         // addresses, or beginnings of addresses with a * at the end
}

// Document is one version of the curation. The zero Document changes no result.
type Document struct {
	Synonyms []Synonyms `json:"synonyms,omitempty" toml:"synonyms,omitempty"`
	Pins     []Pin      `json:"pins,omitempty" toml:"pins,omitempty"`
	Bans     []Ban      `json:"bans,omitempty" toml:"bans,omitempty"`
}

// IsEmpty reports whether the document changes no result.
func (d Document) IsEmpty() bool { return len(d.Synonyms)+len(d.Pins)+len(d.Bans) == 0 }

// Pinned returns the addresses of all pinned pages, each once, sorted.
func (d Document) Pinned() (pages []string) {
	for _, p := range d.Pins {
		pages = append(pages, p.Pages...)
	}
	slices.Sort(pages)
	return slices.Compact(pages)
}

// Fold returns the form of a query in which it is compared with the queries of pins and bans: in lower
// case and Unicode normalization form NFKC, with one space between words.
func Fold(query string) string {
	return strings.Join(strings.Fields(strings.ToLower(norm.NFKC.String(query))), " ")
}

// Prefix takes an element of Ban.Pages. If it ends with *, such as https://example.org/old/*, the result
// is the part before the *, with which the addresses of the banned pages begin, and true. Otherwise the
// element is the address of one page, and the result is this address and false.
func Prefix(page string) (string, bool) { return strings.CutSuffix(page, "*") }

// Validate returns an error that says what is wrong with the document, or nil.
func (d Document) Validate() error {
	if n := max(len(d.Synonyms), len(d.Pins), len(d.Bans)); n > maxRules {
		return fmt.Errorf("%d synonyms, %d pins and %d bans; write at most %d of each", len(d.Synonyms), len(d.Pins), len(d.Bans), maxRules)
	}
	for i, s := range d.Synonyms {
		if err := s.validate(); err != nil {
			return fmt.Errorf("synonyms %d: %w", i+1, err)
		}
	}
	for i, p := range d.Pins {
		if err := p.validate(); err != nil {
			return fmt.Errorf("pin %d: %w", i+1, err)
		}
	}
	for i, b := range d.Bans {
		if err := b.validate(); err != nil {
			return fmt.Errorf("ban %d: %w", i+1, err)
		}
	}
	return nil
}

func (s Synonyms) validate() error {
	switch {
	case len(s.Words) == 0:
		return errors.New(`no words; write them like words = ["postgres", "pg"]`)
	case len(s.Words)+len(s.Also) == 1:
		return fmt.Errorf("%q is alone; write another word beside it, or in also", s.Words[0])
	case max(len(s.Words), len(s.Also)) > maxWords:
		return fmt.Errorf("%d words, and %d in also; write at most %d of each", len(s.Words), len(s.Also), maxWords)
	}
	return errors.Join(eachValid(s.Words, validWord), eachValid(s.Also, validWord))
}

func (p Pin) validate() error {
	switch {
	case len(p.Queries) == 0 || len(p.Queries) > maxQueries:
		return fmt.Errorf(`%d queries; write 1 to %d, like queries = ["download"]`, len(p.Queries), maxQueries)
	case len(p.Pages) == 0 || len(p.Pages) > maxPinned:
		return fmt.Errorf(`%d pages; write 1 to %d, like pages = ["https://example.org/download"]`, len(p.Pages), maxPinned)
	}
	return errors.Join(eachValid(p.Queries, validQuery), eachValid(p.Pages, validPage))
}

func (b Ban) validate() error {
	switch {
	case len(b.Queries) > maxQueries:
		return fmt.Errorf("%d queries; write at most %d", len(b.Queries), maxQueries)
	case len(b.Pages) == 0 || len(b.Pages) > maxBanned:
		return fmt.Errorf(`%d pages; write 1 to %d, like pages = ["https://example.org/old/*"]`, len(b.Pages), maxBanned)
	}
	return errors.Join(eachValid(b.Queries, validQuery), eachValid(b.Pages, validBanned))
}

// eachValid returns the error of the first text that valid refuses, or nil.
func eachValid(texts []string, valid func(string) error) error {
	for _, text := range texts {
		if err := valid(text); err != nil {
			return err
		}
	}
	return nil
}

func validWord(text string) error {
	return validText("a word", text, maxWordBytes)
}

func validQuery(text string) error {
	return validText("a query", text, maxQueryBytes)
}

func validText(what, text string, most int) error {
	if len(text) > most || !strings.ContainsFunc(text, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }) {
		return literal.Wrong(what, text, fmt.Sprintf("a text with letters or digits, of %d bytes at most", most))
	}
	return nil
}

func validPage(text string) error {
	if a, err := address.Parse(text); err != nil || strings.Contains(a.URL, "*") {
		return literal.Wrong("a page", text, "the address of one page, such as https://example.org/download")
	}
	return nil
}

func validBanned(text string) error {
	prefix, is := Prefix(text)
	if !is {
		return validPage(text)
	}
	if _, behind, found := strings.Cut(prefix, "://"); !found || !strings.Contains(behind, "/") || validPage(prefix) != nil {
		return literal.Wrong("a page", text, "an address, or the beginning of addresses with its host and a * at the end, such as https://example.org/old/*")
	}
	return nil
}

var store = numbered.Store[Document]{
	Prefix: layout.Curations, Key: layout.CurationKey, Most: MaxBytes,
	// Nothing is taken over from a damaged version: each version stands for itself.
	Recover: func(d Document, _ []byte) Document { return d },
}

// Among returns the curation in force, and the newer versions that are damaged. The parameter versions
// holds the objects of all versions, in ascending order (see settings.Settings.Curations). If no version
// is damaged, it takes at most one GET.
func Among(ctx context.Context, bucket blob.Reader, versions []blob.Object) (numbered.Found[Document], error) {
	return store.Among(ctx, bucket, versions)
}

// Load returns the curation in force, and its version; 0 if none was published. It takes one LIST, and at
// most one GET if no version is damaged. It fails with numbered.ErrDamaged if no version can be read.
func Load(ctx context.Context, bucket blob.Reader) (Document, uint64, error) {
	return store.Newest(ctx, bucket)
}

// Publish stores the curation as its next version, and returns the version in force. If the version in
// force has the same content, it stores nothing.
func Publish(ctx context.Context, bucket blob.Bucket, d Document) (version uint64, err error) {
	_, version, err = store.Publish(ctx, bucket, func(current Document, next uint64) (Document, bool) {
		unchanged := reflect.DeepEqual(current, d) || current.IsEmpty() && d.IsEmpty() && next == 1
		return d, !unchanged
	})
	if err != nil {
		return 0, fmt.Errorf("cannot publish the curation: %w", err)
	}
	return version, nil
}

// Republish repairs a damaged curation: it publishes the version in force again, under a new number. It
// does so if a newer version is damaged, or if the version in force can be read only from its copy. It
// returns the new number, or 0 if nothing is damaged. It fails with numbered.ErrDamaged if no version can
// be read.
func Republish(ctx context.Context, bucket blob.Bucket) (uint64, error) {
	found, err := store.Find(ctx, bucket)
	if err == nil {
		err = found.Lost()
	}
	if err != nil {
		return 0, err
	}
	return store.Republish(ctx, bucket, func(d Document, _ uint64) (Document, error) { return d, nil })
}
