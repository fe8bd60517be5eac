package segment

import (
	"context"
	"errors"
	"fmt"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/segment/postings"
)

var (
	// ErrDamaged is wrapped by an error that is caused by the bytes of a segment,
	// and not by the store or the caller.
	ErrDamaged = errors.New("segment is damaged")
	// ErrVersion is wrapped by the error of opening a segment whose version this
	// program cannot read.
	ErrVersion = errors.New("segment is of another version")
	// ErrNewer is wrapped, beside ErrVersion, if the segment says that it needs a newer program.
	ErrNewer = errors.New("segment is of a newer version")
	// ErrTooLarge is wrapped by the error of writing a segment that would exceed a limit of the format (see the
	// section Limits of the package comment), or one that the caller of Merge has set.
	ErrTooLarge = errors.New("segment would be too large")
)

// Segment is an opened segment, an immutable index of pages. Its tail (statistics, and where
// everything is) is in memory; all else is read when needed. It is safe for concurrent use.
type Segment struct {
	source Source
	ref    Ref
	tail   *tail
	filter *identityFilter // nil unless OpenToFind has read it
	window int64           // size in bytes of requests of windowReader, if it is larger than windowSize
}

// Totals are the statistics of a segment that scoring needs. Dead documents are included.
type Totals struct {
	Documents int
	Fields    [postings.Fields]FieldTotals
}

// FieldTotals holds statistics of a field: the number of documents in which it has tokens,
// and Length, the number of its tokens in all documents.
type FieldTotals struct {
	Documents, Length uint64
}

// Part is a part of a segment: consecutive documents that come from one package, an object that
// holds stored pages.
type Part struct {
	Package   string // key of the package
	Documents int
}

// Open opens a segment. With one request, it reads the tail: the directory at the segment's end.
// Errors about the segment's bytes wrap ErrDamaged or ErrVersion.
func Open(ctx context.Context, source Source, ref Ref) (*Segment, error) {
	s := &Segment{source: source, ref: ref}
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// OpenBytes opens a segment all of whose bytes are in memory.
func OpenBytes(content []byte) (*Segment, error) {
	size, err := TailOf(content)
	if err != nil {
		return nil, fmt.Errorf("cannot open segment: %w", err)
	}
	return Open(context.Background(), Bytes(content), Ref{Bytes: int64(len(content)), Tail: size})
}

// TailOf returns the size in bytes of a segment's tail: the directory at its end, which Open reads.
// The parameter content is the whole segment.
func TailOf(content []byte) (int64, error) {
	if err := checkMagic(content); err != nil {
		return 0, err
	}
	return parseFooter(content, int64(len(content)))
}

// open reads the segment's tail and parses it.
func (s *Segment) open(ctx context.Context) error {
	if s.ref.Tail < footerSize || s.ref.Tail > s.ref.Bytes {
		return s.unopenable(ctx)
	}
	contents, err := s.read(ctx, []blob.Range{{Offset: s.ref.Bytes - s.ref.Tail, Length: s.ref.Tail}})
	if err != nil {
		return err
	}
	if s.tail, err = parseTail(contents[0], s.ref.Bytes); err != nil {
		return s.wrap(err)
	}
	return nil
}

// unopenable returns the error for a segment whose reference has an impossible size of the tail:
// Ref.Tail is less than the size of a footer, or more than the size of the segment. Perhaps the
// segment is of version 1, which had no tail. So unopenable reads the segment's version. If this
// program cannot read that version, the error says so.
func (s *Segment) unopenable(ctx context.Context) error {
	contents, err := s.read(ctx, []blob.Range{{Length: int64(len(magic))}})
	if err != nil {
		return err
	}
	if err := checkMagic(contents[0]); err != nil {
		return s.wrap(err)
	}
	return s.wrap(fmt.Errorf("a tail of %d bytes in %d cannot be", s.ref.Tail, s.ref.Bytes))
}

// read reads ranges of the segment, none of which may be empty.
func (s *Segment) read(ctx context.Context, ranges []blob.Range) ([][]byte, error) {
	if len(ranges) == 0 {
		return nil, nil
	}
	contents, err := s.source.Read(ctx, s.ref.Key, ranges)
	if err != nil {
		if errors.Is(err, blob.ErrRange) {
			err = fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		return nil, s.wrap(err)
	}
	for i, r := range ranges {
		if int64(len(contents[i])) != r.Length {
			return nil, s.wrap(damaged("%d bytes at %d, not %d", len(contents[i]), r.Offset, r.Length))
		}
	}
	return contents, nil
}

// wrap adds the segment's key to an error.
func (s *Segment) wrap(err error) error {
	return fmt.Errorf("cannot read segment %s: %w", s.ref.Key, err)
}

// Ref returns the segment's key and sizes, as given to Open.
func (s *Segment) Ref() Ref { return s.ref }

// Documents returns the number of documents in the segment.
func (s *Segment) Documents() int { return int(s.tail.documents) }

// Totals returns the numbers of documents and tokens in the segment, which scoring needs.
func (s *Segment) Totals() Totals {
	return Totals{Documents: s.Documents(), Fields: s.tail.fields}
}

// Languages returns the number of documents in each language, by the language's name.
func (s *Segment) Languages() map[string]int {
	counts := make(map[string]int, len(s.tail.languages))
	for _, l := range s.tail.languages {
		counts[l.name] = int(l.documents)
	}
	return counts
}

// LanguageTotals returns the statistics of the documents of each language, by the language's name.
// For segments of version 2, the statistics of fields are estimates. Such a segment has them only
// for all languages together. Each language gets a share of them that is proportional to its number
// of documents.
func (s *Segment) LanguageTotals() map[string]Totals {
	all := make(map[string]Totals, len(s.tail.languages))
	for _, l := range s.tail.languages {
		t := Totals{Documents: int(l.documents), Fields: l.fields}
		if s.tail.version == 2 {
			for f, of := range s.tail.fields {
				t.Fields[f] = FieldTotals{
					Documents: of.Documents * uint64(l.documents) / uint64(s.tail.documents),
					Length:    of.Length * uint64(l.documents) / uint64(s.tail.documents),
				}
			}
		}
		all[l.name] = t
	}
	return all
}

// Analysis returns, by language, the version of the analyzer that has split the documents
// into terms; the lowest if there were several.
func (s *Segment) Analysis() map[string]uint32 {
	versions := make(map[string]uint32, len(s.tail.languages))
	for _, l := range s.tail.languages {
		versions[l.name] = l.analysis
	}
	return versions
}

// Parts returns the parts of the segment, in the order of their documents. The result
// must not be changed.
func (s *Segment) Parts() []Part { return s.tail.parts }

// Size returns the approximate memory that an opened segment takes, in bytes.
func (s *Segment) Size() int64 { return s.tail.size() }

// Sizes are the sizes of the sections of a segment, in bytes. With the 8 magic bytes at the
// beginning, they add up to the size of the segment.
type Sizes struct {
	Stored    int64 // bytes of the addresses, titles, headings and texts of the documents
	Terms     int64 // bytes of the terms with their postings
	Positions int64 // bytes of the positions of the terms in the documents
	Words     int64 // bytes of all words in the spelling of the pages, with a sample of the documents of each word
	Columns   int64 // bytes of the columns of numbers and strings, which filters and scoring need

	Suggestions int64 // bytes of the titles and headings that are offered while people type
	Tail        int64
}

// Sizes returns the sizes of the segment's sections, and the number of its terms. It reads nothing,
// because these have been in memory since the segment was opened.
func (s *Segment) Sizes() (sizes Sizes, terms int64) {
	t := s.tail
	sizes.Tail = s.ref.Tail
	sizes.Stored = t.stored.end() - t.stored.start
	for i, count := range t.terms.counts {
		block, pages := t.terms.split(i)
		sizes.Terms += block.Length
		sizes.Positions += pages.Length
		terms += int64(count)
	}
	for _, c := range t.columns {
		if c.name == words || c.name == samples || c.kind == wordPageKind {
			sizes.Words += c.size
		} else if c.isOfSuggestions() {
			sizes.Suggestions += c.size
		} else {
			sizes.Columns += c.size
		}
	}
	return sizes, terms
}

// versionError is the error of opening a segment whose version this program cannot read. The fields
// are the segment's version, and the least version that a reader of it must have.
type versionError struct{ written, least byte }

func (e versionError) Error() string {
	if e.written < leastVersion {
		return fmt.Sprintf("segment is of version %d, which this program no longer reads: run bucketsearch reindex", e.written)
	}
	return fmt.Sprintf("segment is of version %d and needs a reader of version %d, this one is of version %d: use a newer program",
		e.written, e.least, version)
}

// Is implements errors.Is for ErrVersion and ErrNewer.
func (e versionError) Is(target error) bool {
	return target == ErrVersion || target == ErrNewer && e.least > version
}

// checkReader returns an error if a segment has a version that this program cannot read. The
// parameter last is the tail of the segment, the directory at its end.
func checkReader(last []byte) error {
	if len(last) < 2 {
		return damaged("its tail says nothing")
	}
	if written, least := last[0], last[1]; least > version || written < leastVersion {
		return versionError{written, least}
	}
	return nil
}

// checkMagic returns an error if content does not begin with the magic bytes of a segment of a
// version that this program can read.
func checkMagic(content []byte) error {
	if len(content) < len(magic) {
		return damaged("%d bytes are too few for a segment", len(content))
	}
	begin := content[:len(magic)]
	if string(begin[:5]) == magic[:5] && string(begin[6:]) == magic[6:] {
		if leastVersion <= begin[5] && begin[5] <= version {
			return nil
		}
		return versionError{begin[5], begin[5]}
	}
	return damaged("it does not begin as a segment")
}

// damaged returns an error that wraps ErrDamaged.
func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrDamaged, fmt.Errorf(format, args...))
}
