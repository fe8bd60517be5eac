package document

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout/segment"
	"github.com/bucketsearch/bucketsearch/strategy/address"
)

func TestImages(t *testing.T) {
	const filler = "<p>The cat is a small animal that people like to keep in their houses, and it sleeps for most of the day, wherever the sun shines.</p>"
	text := strings.Repeat(filler, 6)
	for name, c := range map[string]struct {
		page string
		want []segment.Image // images, without the words around them
	}{
		"alternative text": {`<img src="/a%20b.png?x" alt=" A  cat ">`, []segment.Image{{URL: "https://a.example/a%20b.png?x", Alt: "A cat"}}},
		"figure":           {`<figure><img src=1.png><figcaption>A <b>cat</b>.</figcaption></figure>`, []segment.Image{{URL: "https://a.example/d/1.png", Caption: "A cat."}}},
		"figure by class":  {`<div class=figure><p><img src=1.png></p><p class=caption>Abb. 1: Katze</p></div>`, []segment.Image{{URL: "https://a.example/d/1.png", Caption: "Abb. 1: Katze"}}},
		"figure in figure": {`<div class=figure><div class=figure-contents><img src=1.png></div><p class=title>Figure 1. Cat</p></div>`, []segment.Image{{URL: "https://a.example/d/1.png", Caption: "Figure 1. Cat"}}},
		"name":             {`<img src=sleeping-cat.jpg>`, []segment.Image{{URL: "https://a.example/d/sleeping-cat.jpg"}}},
		"name in Japanese": {`<img src=%E7%8C%AB.jpg>`, []segment.Image{{URL: "https://a.example/d/%E7%8C%AB.jpg"}}},
		"nothing told":     {`<img src=spacer.gif><img src=img_0123.jpg alt=""><img src=3fa9bc01.png alt=" * "><img src=x.png>`, nil},
		"twice":            {`<img src=a.png alt=Cat><img src=a.png alt=Dog>`, []segment.Image{{URL: "https://a.example/d/a.png", Alt: "Cat"}}},
		"no address":       {`<img alt=Cat><img src="" alt=Cat><img src="data:image/png;base64,AAAA" alt=Cat><img src="javascript:1" alt=Cat>`, nil},
		"navigation":       {`<nav><a href=/><img src=logo.png alt=Home></a></nav><div hidden><img src=b.png alt=Hidden></div>`, nil},
		"base":             {`<base href="https://img.example/x/"><img src=a.png alt=Cat>`, []segment.Image{{URL: "https://img.example/x/a.png", Alt: "Cat"}}},
		"long":             {`<img src=a.png alt="` + strings.Repeat("ü", 1000) + `">`, []segment.Image{{URL: "https://a.example/d/a.png", Alt: strings.Repeat("ü", 150)}}},
	} {
		t.Run(name, func(t *testing.T) {
			d := Parse([]byte("<main><h1>Cats</h1>" + text + c.page + text + "</main>"))
			got := d.Images(parsed(t, "https://a.example/d/p.html"), d.Content())
			for i := range got {
				if !strings.Contains(got[i].Around, "Cats") || !strings.Contains(got[i].Around, "sun shines") || len(got[i].Around) > MaxTitle+2*MaxAround+2 {
					t.Errorf("words around: %q", got[i].Around)
				}
				got[i].Around = ""
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Errorf("images (-want +got)\n%s", d)
			}
		})
	}
}

// TestWordsAround checks that the words around an image are taken from the main part, and not from
// navigation next to it.
func TestWordsAround(t *testing.T) {
	const text = "<p>The cat is a small animal that people like to keep in their houses, and it sleeps for most of the day.</p>"
	for name, c := range map[string]struct{ page, want string }{
		"at the end": {strings.Repeat(text, 6) + "<p><img src=a.png alt=Cat></p></main><nav>" + strings.Repeat("<a href=/>Elsewhere</a> ", 9) + "</nav>",
			"Cats cat is a small animal that people like to keep in their houses, and it sleeps for most of the day."},
		"in a line": {strings.Repeat(text, 6) + "<p>Here <img src=a.png alt=Cat> it sleeps, and there it does not.</p></main>",
			"Cats is a small animal that people like to keep in their houses, and it sleeps for most of the day. Here it sleeps, and there it does not."},
	} {
		d := Parse([]byte("<nav><a href=/>Home</a></nav><main><h1>Cats</h1>" + c.page))
		images := d.Images(parsed(t, "https://a.example/"), d.Content())
		if len(images) != 1 || joinWords(images[0].Around) != c.want {
			t.Errorf("%s: %+v, want the words %q", name, images, c.want)
		}
	}
}

// TestManyImages checks that no more than MaxImages images are returned, and that Omitted has the
// number of further ones.
func TestManyImages(t *testing.T) {
	var page strings.Builder
	page.WriteString("<main>")
	for i := range MaxImages + 7 {
		fmt.Fprintf(&page, "<p>Cats sleep all day long and hunt at night, number %d of many.<img src=cat%d.png alt=Cat>", i, i)
	}
	d := Parse([]byte(page.String()))
	if n := len(d.Images(parsed(t, "https://a.example/"), d.Content())); n != MaxImages {
		t.Errorf("%d images", n)
	}
	if want := fmt.Sprintf("7 of %d images", MaxImages+7); !slices.Contains(d.Omitted, want) {
		t.Errorf("omitted: %q, want %q", d.Omitted, want)
	}
}

func TestImagesOfNothing(t *testing.T) {
	for _, page := range []string{"", "<img src=cat.png alt=Cat>", "<p>Cat"} {
		d := Parse([]byte(page))
		d.Images(parsed(t, "https://a.example/"), d.Content())
	}
	d, err := Read([]byte("plain text"), "text/plain")
	if err != nil {
		t.Fatal(err)
	}
	if images := d.Images(parsed(t, "https://a.example/"), d.Content()); images != nil {
		t.Errorf("plain text has %v", images)
	}
}

func parsed(t *testing.T, url string) address.Address {
	t.Helper()
	a, err := address.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return a
}
