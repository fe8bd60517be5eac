package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/query/request"
	"github.com/bucketsearch/bucketsearch/functions/shared/search"
	"github.com/bucketsearch/bucketsearch/strategy/address"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
)

var pageTool = &sdk.Tool{
	Name: "read_page", Title: "Read a stored page",
	Description: "Shows the main part of a stored page as Markdown, without menus and advertisements, and how to cite it. " +
		"A long page begins with the list of its headings, and comes in windows: read the rest by the cursor, or one section by its heading. " +
		"It reads only pages that are stored; search finds them.",
	Annotations: reads,
}

type pageInput struct {
	URL     string `json:"url" jsonschema:"address of the page, such as https://example.org/guide; with #fragment for a section"`
	Section string `json:"section,omitempty" jsonschema:"only the section with this heading or #fragment"`
	Cursor  string `json:"cursor,omitempty" jsonschema:"the cursor of the answer before, for the rest of the page; url as before"`
}

func (t Tools) readPage(ctx context.Context, e *engine.Engine, in pageInput) (string, error) {
	plain, fragment, _ := strings.Cut(in.URL, "#")
	at, err := collection.ParseSeed(plain)
	if err != nil {
		return "", request.Wrong("%.200q is no web address; write it like https://example.org/.", in.URL)
	}
	page, notes, err := stored(ctx, e, at)
	if err != nil {
		return "", err
	}
	text, err := readableOf(page)
	if err != nil {
		return "", err
	}
	within := text.whole()
	window := within.span
	switch {
	case in.Cursor != "":
		if window, err = text.from(in.Cursor); err != nil {
			return "", err
		}
		within = text.sectionAt(window.from)
	case in.Section != "":
		found, ok := text.find(in.Section)
		if !ok {
			return "", request.Wrong("%s has no section %.100q; call read_page without section for its headings, or search for words of it.", page.URL, in.Section)
		}
		window, within = found.span, found
	case fragment != "":
		if found, ok := text.find("#" + fragment); ok {
			window, within = found.span, found
		} else {
			notes = append(notes, "No heading has the fragment of the address, so this is the page from its beginning.")
		}
	}
	return text.answer(page, within, window, in.Cursor == "", notes), nil
}

// stored returns the stored page of an address. If there is none, it tries addresses to which that one leads
// (redirects), and addresses that are often the same page, such as the one without www; notes say if another
// address was used. If no page is found, the error says why, and names stored pages that may be meant.
func stored(ctx context.Context, e *engine.Engine, at address.Address) (page engine.Copy, notes []string, err error) {
	candidates, err := forms(ctx, e, at)
	if err != nil {
		return page, nil, err
	}
	asked := []string{at.URL} // addresses that were looked up, so that those that lead to each other end
	for len(candidates) > 0 && len(asked) <= maxAsked {
		next := candidates[0]
		candidates = candidates[1:]
		page, err = e.Page(ctx, next, time.Time{})
		none, missing := errors.AsType[*engine.NoPage](err)
		if !missing {
			if err == nil && next.URL != at.URL {
				notes = append(notes, fmt.Sprintf("%s is not stored itself; this is the page to which it leads, or which is likely meant.", at.URL))
			}
			return page, append(notes, about(page)...), err
		}
		if to, err := address.Parse(none.To); err == nil && !slices.Contains(asked, to.URL) {
			asked, candidates = append(asked, to.URL), append([]address.Address{to}, candidates...)
		}
	}
	found, err := e.Search(ctx, engine.Query{Query: search.Query{Text: at.URL, Size: maxMeant, Fold: true}})
	if err != nil {
		return page, nil, err
	}
	if found.Named && len(found.Hits) > 0 && !slices.Contains(asked, found.Hits[0].URL) {
		if named, err := address.Parse(found.Hits[0].URL); err == nil {
			page, err = e.Page(ctx, named, time.Time{})
			if err == nil {
				return page, append(about(page), fmt.Sprintf("%s is not stored; this is the page %s, which is likely the same.", at.URL, named.URL)), nil
			}
		}
	}
	return page, nil, request.Failure{Status: http.StatusNotFound, Sentence: notStored(at, found)}
}

const (
	maxAsked = 6  // greatest number of addresses that are looked up for one
	maxMeant = 10 // number of hits among which an error looks for addresses of the same site
	maxLike  = 3  // greatest number of addresses that an error suggests
)

// forms returns the address at, and the addresses that the collections would crawl in its place, such as the
// one without a session id.
func forms(ctx context.Context, e *engine.Engine, at address.Address) ([]address.Address, error) {
	inForce, err := e.Settings.Get(ctx)
	if err != nil {
		return nil, err
	}
	all := []address.Address{at}
	for _, c := range inForce.Collections {
		if cleaned := inForce.Clean(c.Name, at); !slices.Contains(all, cleaned) {
			all = append(all, cleaned)
		}
	}
	return all, nil
}

// about returns notes for the reader of a stored copy: that the page is gone from its address now, or that
// there may be a newer copy.
func about(page engine.Copy) (notes []string) {
	if page.Gone != nil {
		notes = append(notes, fmt.Sprintf("The page has been gone from its address since %s; this is the stored copy.", day(page.Gone.Time)))
	}
	if len(page.Unread) > 0 {
		notes = append(notes, "A part of the records is damaged, so there may be a newer copy.")
	}
	return notes
}

// notStored returns a sentence that says why no page is stored at an address. It also names stored pages of
// the same site. The parameter found is the result of a search for the address.
func notStored(at address.Address, found engine.Result) string {
	sentence := fmt.Sprintf("%s is not stored.", at.URL)
	for _, note := range found.Notes {
		if strings.HasPrefix(note, at.URL) {
			sentence = note
		}
	}
	var like []string
	for i := range found.Hits {
		if hit := &found.Hits[i]; hit.Site == at.Site && !hit.Unvisited && len(hit.URL) <= 500 && len(like) < maxLike {
			like = append(like, hit.URL)
		}
	}
	if len(like) == 0 {
		return sentence + " Call search with words of the page."
	}
	return sentence + " Stored pages like it: " + strings.Join(like, ", ") + ". Or call search with words of the page."
}

// cite returns a line that says how to cite a page, or the section with the given fragment: by address,
// dates and hash. The parameter date is the page's own date.
func cite(page engine.Copy, fragment, date string) string {
	at := page.URL
	if fragment != "" {
		at += "#" + (&url.URL{Fragment: fragment}).EscapedFragment()
	}
	return fmt.Sprintf("Cite as: %s (%s)\n", at, provenance(date, page.Downloaded, page.Hash))
}
