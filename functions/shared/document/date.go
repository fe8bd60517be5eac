package document

import (
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/dates"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// DateSource says where a page's own date comes from (see Document.Date); "" if it has none.
type DateSource string

// The sources of a page's own date.
const (
	FromMetadata DateSource = "metadata"
	FromTime     DateSource = "time"
	FromAddress  DateSource = "address"
	FromText     DateSource = "text"
	FromFile     DateSource = "file"
	FromHeader   DateSource = "header"
)

// oldest is the least year of a page's own date. An earlier date is one of the page's subject.
const oldest = 1990

// Date returns the own date of the stored page that the Document was read from, and the source of this
// date. The first source that has a date counts:
//
//	FromMetadata  meta elements and JSON-LD: the times of publication and of the last change
//	FromTime      time elements near the title: <time datetime="2026-11-26">
//	FromAddress   the page's address: /2026/11/26/name, /2026-11-26-name
//	FromText      a date that the page shows near its title or its end: "Last updated on Nov 26, 2026"
//	              (see shownDate)
//	FromFile      properties of a PDF file: the times when it was made and changed
//	FromHeader    the response header Last-Modified, if it is more than a day before the download. A
//	              later one is ignored: servers that make the page anew for every request send it.
//
// If a source has several dates, the latest counts, with exceptions in FromTime (see the method times) and
// FromText (see shownDate). Dates before 1990, and dates of a day or more after the download, do not count.
// The result date is the beginning, in UTC, of the day that the page names, or the zero time if there is none.
func (d *Document) Date(o webobject.Object) (date time.Time, source DateSource) {
	r := dateReader{Document: d, object: o, lang: d.Lang, latest: o.Downloaded.Add(24 * time.Hour)}
	if primary(d.page.Lang) == d.Lang {
		r.lang = d.page.Lang
	}
	for _, of := range [...]struct {
		source DateSource
		date   func() time.Time
	}{
		{FromMetadata, r.metadata}, {FromTime, r.times}, {FromAddress, r.address}, {FromText, r.shownDate}, {FromFile, r.file}, {FromHeader, r.header},
	} {
		if date := of.date(); !date.IsZero() {
			return date, of.source
		}
	}
	return time.Time{}, ""
}

// dateReader finds the date that a page states for itself. Each of its methods metadata, times, address, shownDate
// and file returns the date from one source (see DateSource), or the zero time if the source has none.
type dateReader struct {
	*Document
	object webobject.Object
	lang   string    // tag of the page's language with its region, such as en-GB; "" if it is not known
	latest time.Time // a page's own date must be before this time
}

// isPossible reports whether a day can be a page's own date.
func (r *dateReader) isPossible(day time.Time) bool {
	return day.Year() >= oldest && day.Before(r.latest)
}

// later returns the later of two days. The day other counts only if it can be a page's own date (see isPossible).
func (r *dateReader) later(day, other time.Time) time.Time {
	if r.isPossible(other) && other.After(day) {
		return other
	}
	return day
}

// written returns the latest date of texts that are written for programs, such as 2026-11-26T10:00:00Z. Texts
// without a possible date do not count.
func (r *dateReader) written(texts ...string) (date time.Time) {
	for _, text := range texts {
		if day, ok := dates.Written(text, r.lang); ok {
			date = r.later(date, day)
		}
	}
	return date
}

func (r *dateReader) metadata() time.Time {
	if r.converted {
		return time.Time{}
	}
	f := r.facts()
	return r.written(f.published, f.modified)
}

// file returns the date from the properties of a file, such as a PDF, that was converted to HTML. It is trusted
// less than what the page shows, because it may be the day of the conversion to PDF.
func (r *dateReader) file() time.Time {
	if !r.converted {
		return time.Time{}
	}
	f := r.facts()
	return r.written(f.published, f.modified)
}

// times returns the latest date of the time elements near the title. If there are more than two different dates,
// the elements belong to a list, such as a list of articles. Then the first date counts.
func (r *dateReader) times() (date time.Time) {
	for _, title := range r.titles() {
		var days []time.Time
		for _, t := range r.page.Times {
			e := &r.page.Elements[t.Element]
			at := int(e.Start)
			if at < title.start-beforeTitle || at >= title.start+behindTitle || e.Flags&aside != 0 || e.Flags&hypertext.Navigation&^title.flags != 0 {
				continue
			}
			if day := r.written(t.Date); !day.IsZero() && !slices.Contains(days, day) {
				days = append(days, day)
			}
			if len(days) > 2 {
				return days[0]
			}
		}
		if len(days) > 0 {
			return slices.MaxFunc(days, time.Time.Compare)
		}
	}
	return time.Time{}
}

// aside has the flags of elements whose dates do not count as dates of the page: hidden ones, asides and quotes.
const aside = hypertext.Hidden | hypertext.InAside | hypertext.InQuote

func (r *dateReader) address() (date time.Time) {
	u, err := url.Parse(r.object.URL)
	if err != nil {
		return time.Time{}
	}
	for _, found := range dates.Find(u.Path, "", 4) {
		date = r.later(date, found.Day)
	}
	return date
}

func (r *dateReader) header() time.Time {
	at, err := http.ParseTime(lastModified(r.object))
	if err != nil || !r.isPossible(at) || r.object.Downloaded.Sub(at) <= 24*time.Hour {
		return time.Time{}
	}
	return at.UTC().Truncate(24 * time.Hour)
}
