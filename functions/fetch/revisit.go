package fetch

import (
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/batch"
)

// Bounds of the expiry class of a page that is revisited: from 1.5 hours to 64
// days.
const (
	minExponent = -4
	maxExponent = 6
)

// conclude writes a verdict on a target into its outcome. A page that is stored
// already is kept when it could not be had, and the first time that the server
// says that it is gone: then the outcome is unchanged with a reason.
func conclude(o *book.Outcome, t batch.Target, v verdict) {
	settle(o, v)
	if t.Last == nil {
		return
	}
	switch {
	case t.Sitemap:
		if o.State == book.Failed && v.state == book.Retry {
			keep(o, *t.Last)
		}
	case o.State == book.Stored:
		o.Exponent = sooner(o.Exponent)
	case o.State == book.Unchanged:
		o.Digest, o.Exponent = t.Last.Digest, later(o.Exponent)
	case o.State == book.Skipped, o.State == book.Failed && missing(*o) && t.Last.Missing:
		o.Digest = t.Last.Digest // tells that a page is gone
	case o.State == book.Failed:
		o.State, o.ETag, o.Modified, o.Digest = book.Unchanged, t.Last.ETag, t.Last.Modified, t.Last.Digest
		if missing(*o) {
			o.Exponent = bounded(min(o.Exponent, 0) - 2)
		}
	}
}

// missing reports whether the server says that there is no such page.
func missing(o book.Outcome) bool { return o.Status/100 == 4 && o.Status != 429 }

// sooner and later return the class of what has changed since the last look,
// and of what has not.
func sooner(exponent int16) int16 { return bounded(exponent - 1) }
func later(exponent int16) int16  { return bounded(exponent + 1) }

func bounded(exponent int16) int16 { return max(minExponent, min(exponent, maxExponent)) }

// validators returns those of an answer, or if it has none, those of the last.
func validators(a answer, last *batch.Look) (etag, modified string) {
	etag, modified = validator(a, "ETag"), validator(a, "Last-Modified")
	if etag == "" && modified == "" && last != nil {
		return last.ETag, last.Modified
	}
	return etag, modified
}

// validator returns a field of the header, or "" if it is too long for an
// outcome or could not be sent back.
func validator(a answer, name string) string {
	value := a.header.Get(name)
	if len(value) > book.MaxValidator {
		return ""
	}
	for _, c := range []byte(value) {
		if c < ' ' || c > '~' {
			return ""
		}
	}
	return value
}
