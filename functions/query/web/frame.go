package web

import (
	"bytes"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/html"

	"github.com/bucketsearch/bucketsearch/functions/query/engine"
	"github.com/bucketsearch/bucketsearch/functions/shared/document"
	"github.com/bucketsearch/bucketsearch/layout/webobject"
)

// framePolicy is the content security policy of a stored copy that is shown in a frame of our page. It
// differs from the policy of other stored copies (storedPolicy) in three ways: the copy may load images and
// style sheets from this server, our own page may frame the copy, and a click of the reader on a link may
// replace our page by another one. Scripts cannot replace our page, because no scripts run in the copy.
const framePolicy = "sandbox allow-top-navigation-by-user-activation; default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; " +
	"form-action 'none'; base-uri 'none'; frame-ancestors 'self'"

// isHTML reports whether a media type is that of pages with markup.
func isHTML(stored string) bool {
	media, _ := servedType(stored, false)
	media, _, _ = strings.Cut(media, ";")
	return media == "text/html" || media == "application/xhtml+xml"
}

// isShown reports whether copies of a media type can be shown in a frame.
func isShown(stored string) bool {
	_, attachment := servedType(stored, false)
	return !attachment
}

// serveFrame answers with a stored copy for the frame of our page, or with a style sheet for such a copy.
// The references in HTML and CSS are changed so that they lead to stored copies (see refer and referStyle).
func serveFrame(w http.ResponseWriter, r *http.Request, page webobject.Object, asOf time.Time) error {
	base, err := url.Parse(page.URL)
	if err != nil {
		return err
	}
	describe(w.Header(), page, false)
	w.Header().Set("Content-Security-Policy", framePolicy)
	data := page.Data
	changed := func(media string) {
		w.Header().Set("Content-Type", media+"; charset=utf-8")
		w.Header().Del("ETag") // it is the tag of the stored bytes
	}
	switch {
	case isHTML(page.MIME):
		text, _, _ := document.Decode(page.Data, page.MIME)
		data = refer(text, base, asOf)
		changed("text/html")
	case isStyle(page.MIME) && r.Header.Get("Sec-Fetch-Dest") == "style":
		data = referStyle(page.Data, base, asOf)
		changed("text/css")
	}
	http.ServeContent(w, r, "", page.Downloaded, bytes.NewReader(data))
	return nil
}

// isStyle reports whether a media type is that of style sheets.
func isStyle(stored string) bool {
	media, _, _ := strings.Cut(stored, ";")
	return strings.EqualFold(strings.TrimSpace(media), "text/css")
}

// frameAddress returns the address at which the stored copy of a page is served for the frame of our page.
func frameAddress(page string, asOf time.Time) string {
	return "/copy/frame" + strings.TrimPrefix(engine.CopyAddress(page, asOf), "/page")
}

// maxReferences is the greatest number of references of a page or style sheet that are changed.
const maxReferences = 20_000

// refer returns an HTML page with its references changed so that they lead to stored copies of the moment
// asOf. The parameter base is the address of the page.
//
//	element          changes
//	a, area          leads to our page that shows the stored copy, or says that there is none; a link
//	                 to a fragment of the page itself becomes #fragment
//	img              shows the stored copy of the image in src; srcset is dropped
//	source           srcset is dropped
//	link             leads to the stored copy of the style sheet for the frame; all other links are dropped
//	base             is dropped; references were resolved by it before
//
// All else stays, byte by byte. The page is in UTF-8. Only the first maxReferences elements are changed.
func refer(page []byte, base *url.URL, asOf time.Time) []byte {
	var out bytes.Buffer
	z := html.NewTokenizer(bytes.NewReader(page))
	here, based, changed := *base, false, 0
	for {
		kind := z.Next()
		if kind == html.ErrorToken {
			return out.Bytes()
		}
		raw := slices.Clone(z.Raw()) // reading the attributes changes it
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken || changed == maxReferences {
			out.Write(raw)
			continue
		}
		t := html.Token{Type: kind}
		name, more := z.TagName()
		switch t.Data = string(name); t.Data {
		case "a", "area", "img", "source", "link", "base":
		default:
			out.Write(raw)
			continue
		}
		for more {
			var key, value []byte
			key, value, more = z.TagAttr()
			t.Attr = append(t.Attr, html.Attribute{Key: string(key), Val: string(value)})
		}
		changed++
		if t.Data == "base" {
			if to := resolved(base, attribute(&t, "href")); to != nil && !based {
				here, based = *to, true
			}
			continue
		}
		if referred(&t, base, &here, asOf) {
			out.WriteString(t.String())
		}
	}
}

// referred changes the references of a tag as refer says, and reports whether the tag stays in the page. The
// parameter page is the address of the page; base is the address to which its references are relative.
func referred(t *html.Token, page, base *url.URL, asOf time.Time) bool {
	drop := func(names ...string) {
		t.Attr = slices.DeleteFunc(t.Attr, func(a html.Attribute) bool { return slices.Contains(names, a.Key) })
	}
	switch t.Data {
	case "a", "area":
		to := resolved(base, attribute(t, "href"))
		drop("ping", "target", "download")
		if to == nil {
			return true
		}
		if within := *to; within.Fragment != "" {
			within.Fragment = page.Fragment
			if within.String() == page.String() {
				set(t, "href", "#"+to.EscapedFragment())
				return true
			}
		}
		set(t, "href", copyAddress(to.String(), asOf, ""))
		t.Attr = append(t.Attr, html.Attribute{Key: "target", Val: "_top"})
	case "img":
		to := resolved(base, attribute(t, "src"))
		drop("srcset", "sizes", "loading")
		if to != nil {
			set(t, "src", engine.CopyAddress(to.String(), asOf))
			t.Attr = append(t.Attr, html.Attribute{Key: "loading", Val: "lazy"})
		}
	case "source":
		drop("srcset")
	case "link":
		to := resolved(base, attribute(t, "href"))
		if to == nil || !slices.Contains(strings.Fields(strings.ToLower(attribute(t, "rel"))), "stylesheet") {
			return false
		}
		set(t, "href", frameAddress(to.String(), asOf))
		drop("integrity", "crossorigin")
	}
	return true
}

func attribute(t *html.Token, name string) string {
	for _, a := range t.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// set changes the first attribute with a name.
func set(t *html.Token, name, value string) {
	for i := range t.Attr {
		if t.Attr[i].Key == name {
			t.Attr[i].Val = value
			return
		}
	}
}

// resolved returns the address to which a reference leads; nil if it is no web address.
func resolved(base *url.URL, reference string) *url.URL {
	reference = strings.TrimSpace(reference)
	if reference == "" {
		return nil
	}
	to, err := base.Parse(reference)
	if err != nil || to.Scheme != "http" && to.Scheme != "https" || to.Host == "" {
		return nil
	}
	return to
}
