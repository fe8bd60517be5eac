package mainpart

import (
	"bytes"
	"strings"

	"github.com/bucketsearch/bucketsearch/functions/shared/document/hypertext"
	"github.com/bucketsearch/bucketsearch/functions/shared/document/linkeddata"
)

// told is what a page's JSON-LD tells about the page: texts, and the kinds of its objects.
type told struct {
	texts, comments, reviews [][]byte
	// Six features of the page. The first five are for products, articles, lists, forums and FAQs:
	// 1 if the JSON-LD has such an object, else 0. The last is for the meta element og:type: 1 for
	// an article, 2 for a website, 3 for a product, else 0.
	flags [6]uint8
}

// counted are groups of words. For each group, surroundings counts the elements of the page whose
// class or id has a word of the group.
var counted = [...]hypertext.Words{
	hypertext.WordForum, hypertext.WordComment, hypertext.WordProduct, hypertext.WordCart, hypertext.WordReview, hypertext.WordCard,
}

// tell collects what a page's JSON-LD says: texts, and the kinds of its objects. It also notes the
// kind of page that the meta element og:type names.
func tell(p *hypertext.Page, data *linkeddata.Data) (t told) {
	for i := range data.Objects {
		switch o := &data.Objects[i]; o.Type {
		case "Product", "ProductGroup", "IndividualProduct", "SoftwareApplication", "Book":
			t.flags[0] = 1
		case "Article", "NewsArticle", "BlogPosting", "TechArticle", "Report":
			t.flags[1] = 1
		case "ItemList", "CollectionPage", "OfferCatalog":
			t.flags[2] = 1
		case "QAPage", "DiscussionForumPosting":
			t.flags[3] = 1
		case "FAQPage":
			t.flags[4] = 1
		}
	}
	for _, m := range p.Metas {
		if m.Property != "og:type" {
			continue
		}
		switch kind := strings.ToLower(m.Content); {
		case strings.Contains(kind, "product"):
			t.flags[5] = 3
		case strings.Contains(kind, "article"):
			t.flags[5] = 1
		case strings.Contains(kind, "website"):
			t.flags[5] = 2
		}
	}
	for _, v := range data.Values {
		switch v.Key {
		case "name", "headline", "description", "articleBody", "text", "reviewBody", "abstract", "recipeIngredient", "value":
		default:
			continue
		}
		text := v.Text
		if bytes.ContainsAny(text, "<&") {
			text = hypertext.Read(text).Text
		}
		switch {
		case data.Is(v.Object, "Review"):
			t.reviews = append(t.reviews, text)
		case data.Is(v.Object, "Comment"):
			t.comments = append(t.comments, text)
		case data.Is(v.Object, "Organization", "WebSite", "BreadcrumbList", "ImageObject", "Person"):
		default:
			t.texts = append(t.texts, text)
		}
	}
	return t
}
