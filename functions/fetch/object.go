package fetch

import (
	"slices"
	"strings"
	"sync"

	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// compress takes a compressor, of a megabyte, for no longer than it works:
// many batches wait for their hosts at the same time.
func compress(compressors *sync.Pool, o webobject.Object) (webobject.Run, error) {
	c, ok := compressors.Get().(*webobject.Compressor)
	if !ok {
		c = webobject.NewCompressor(webobject.DefaultLevel)
	}
	run, err := c.Compress(o)
	compressors.Put(c)
	return run, err
}

func (p page) object(o book.Outcome) webobject.Object {
	return webobject.Object{
		URL:         o.URL,
		MIME:        mediaType(p.answer),
		Data:        p.answer.body,
		Cost:        max(0, p.answer.ended.Sub(p.answer.began)),
		Downloaded:  o.Time,
		Expires:     o.Time.Add(webobject.Lifetime(o.Exponent)),
		Status:      o.Status,
		Header:      headerLines(p.answer.header),
		Address:     p.answer.address,
		Collections: o.Collections,
		Version:     o.Version,
	}
}

// mediaType returns the Content-Type as sent, with its charset, unless the
// bytes belie it.
func mediaType(a answer) string {
	sent := a.header.Get("Content-Type")
	media := document.Sniff(a.body, sent)
	if claimed, _, _ := strings.Cut(sent, ";"); strings.EqualFold(strings.TrimSpace(claimed), media) && len(sent) <= 255 {
		return sent
	}
	return media
}

// headerLines returns the response header by name, without cookies, up to
// maxHeaderLines bytes.
func headerLines(h map[string][]string) []webobject.Field {
	var lines []webobject.Field
	size := 0
	for name, values := range h {
		if strings.HasPrefix(name, "Set-Cookie") {
			continue
		}
		for _, value := range values {
			lines = append(lines, webobject.Field{Name: name, Value: value})
		}
	}
	slices.SortStableFunc(lines, func(a, b webobject.Field) int { return strings.Compare(a.Name, b.Name) })
	for i, line := range lines {
		if size += len(line.Name) + len(line.Value); size > maxHeaderLines {
			return lines[:i]
		}
	}
	return lines
}
