package hypertext

import "strings"

// Words is a set of groups of words. Each group describes a purpose of an element, such as menu or
// title.
type Words uint64

// The groups of words that are looked for in the attributes class, id, role and itemprop. The variable
// groups lists the words of each group.
const (
	WordMain Words = 1 << iota
	WordContent
	WordArticle
	WordText
	WordTitle
	WordHeader
	WordFooter
	WordNav
	WordMenu
	WordCrumbs
	WordSidebar
	WordRelated
	WordShare
	WordPromo
	WordAd
	WordComment
	WordForum
	WordAuthor
	WordDate
	WordTags
	WordCookie
	WordSubscribe
	WordPopup
	WordLogin
	WordSearch
	WordPager
	WordToc
	WordProduct
	WordPrice
	WordReview
	WordCart
	WordSpecs
	WordList
	WordItem
	WordCard
	WordButton
	WordHidden
	WordWidget
	WordBanner
	WordFaq
	WordLegal
	WordCaption
	WordImage
	WordCode
	WordTable
	WordQuote
	WordFilter
	WordDescription
	WordSection
	WordIntro
	WordSignature
	WordStats
	WordSkip
	WordGrid
)

// groups lists the groups of words, each with its words. A word with * at its end stands for all
// words that begin with it.
var groups = []struct {
	group Words
	words string
}{
	{WordMain, "main primary maincontent"},
	{WordContent, "content contents contentarea pagecontent postcontent entry bodycontent"},
	{WordArticle, "article articles post posts story blog blogpost news articlebody articlecontent mainentity mainentityofpage"},
	{WordText, "text body richtext rte prose markdown copy paragraph wysiwyg rich para txt textblock richtexteditor editorial"},
	{WordTitle, "title headline heading titles subtitle name subhead subheading h1 h2 h3"},
	{WordHeader, "header head masthead topbar top hdr siteheader pageheader"},
	{WordFooter, "footer foot bottom ftr sitefooter colophon contentinfo"},
	{WordNav, "nav navigation navbar navi subnav topnav mainnav megamenu navs navlist sidenav"},
	{WordMenu, "menu menus submenu dropdown menuitem hamburger offcanvas drawer flyout menubar mega"},
	{WordCrumbs, "breadcrumb breadcrumbs crumb crumbs bread"},
	{WordSidebar, "sidebar side aside rail secondary complementary rightcol leftcol sidebars rightrail"},
	{WordRelated, "related recommend* similar more also recirc* suggest* youmay next trending popular latest recent readmore upsell crosssell seealso alsolike further"},
	{WordShare, "share sharing social socials addthis addtoany facebook twitter linkedin pinterest instagram whatsapp follow sharebar sharethis"},
	{WordPromo, "promo promot* cta teaser* callout featured feature offer deal campaign marketing announcement"},
	{WordAd, "ad ads advert* adsense sponsor* adslot dfp banner-ad adunit outbrain taboola affiliate commercial gpt"},
	{WordComment, "comment comments disqus respond reply replies commentlist discussion responses"},
	{WordForum, "forum thread topic message messages msg postbody postcell answer answers question qa lia cooked posttext"},
	{WordAuthor, "author authors byline bio writer avatar contributor profile user username poster member"},
	{WordDate, "date time published timestamp datetime updated posted datepublished datemodified meta metadata postmeta dateline"},
	{WordTags, "tag tags category categories keyword keywords label labels topics badge chip taxonomy cat hashtag"},
	{WordCookie, "cookie cookies consent gdpr onetrust ccpa privacy cookiebot cmp"},
	{WordSubscribe, "subscribe subscription newsletter signup email mailing optin mailchimp register klaviyo hubspot"},
	{WordPopup, "popup modal overlay dialog lightbox alert toast notice notification tooltip popover alertdialog interstitial snackbar"},
	{WordLogin, "login signin account auth password logout"},
	{WordSearch, "search searchbox searchform autocomplete"},
	{WordPager, "pager pagination paging pages paginate prev previous pagenav nextprev"},
	{WordToc, "toc tableofcontents outline jump anchors tocbox"},
	{WordProduct, "product products item* sku pdp listing-item goods woocommerce shopify"},
	{WordPrice, "price prices pricing cost money amount sale discount"},
	{WordReview, "review reviews rating ratings stars testimonial testimonials feedback aggregaterating reviewbody yotpo bazaarvoice"},
	{WordCart, "cart basket checkout wishlist bag buy addtocart quantity qty minicart order shipping delivery"},
	{WordSpecs, "spec specs specification specifications attribute attributes details detail properties features dimensions ingredients technical"},
	{WordList, "list lists listing results result items ul collection archive catalog loop feed"},
	{WordItem, "row col column cell li listitem entryitem tile"},
	{WordCard, "card cards thumb thumbnail preview excerpt summary snippet tease cardbody"},
	{WordButton, "button btn buttons link links action actions control controls toggle toolbar icon icons tools edit print"},
	{WordHidden, "hidden hide visuallyhidden sr screenreader sronly invisible noscript collapsed assistive offscreen visually"},
	{WordWidget, "widget widgets module component plugin sidebarwidget block"},
	{WordBanner, "banner hero slider carousel slideshow slick swiper jumbotron splash marquee slide"},
	{WordFaq, "faq faqs accordion accordions tab tabs panel collapse collapsible expand tabpanel tabcontent acceptedanswer"},
	{WordLegal, "copyright legal disclaimer terms license rights imprint policy"},
	{WordCaption, "caption figcaption credit credits legend figure wp-caption"},
	{WordImage, "image images img photo photos gallery media picture video player pic embed"},
	{WordCode, "code highlight source snippet-code codeblock syntax pre prettyprint sourcecode language lang"},
	{WordTable, "table tbl grid-table datatable data"},
	{WordQuote, "quote blockquote quoted pullquote citation cite bbcode"},
	{WordFilter, "filter filters sort sorting facet facets refine refinement swatch option options variant variants select selector sortby"},
	{WordDescription, "description desc about overview info information longdescription longdesc articledescription"},
	{WordSection, "section region container wrapper wrap inner layout page site outer"},
	{WordIntro, "intro lead lede standfirst abstract deck dek introduction summarytext kicker"},
	{WordSignature, "signature sig postsignature usertitle rank"},
	{WordStats, "stats count counter views likes votes vote reputation karma points score meter badges counts"},
	{WordSkip, "skip skiplink accessibility a11y jumpto language-switcher lang-switcher languages locale currency country"},
	{WordGrid, "grid flex columns rows masonry"},
}

var (
	wordGroups = make(map[string]Words)
	wordStarts []wordStart
)

type wordStart struct {
	start string
	group Words
}

func init() {
	for _, g := range groups {
		for word := range strings.FieldsSeq(g.words) {
			if start, cut := strings.CutSuffix(word, "*"); cut {
				wordStarts = append(wordStarts, wordStart{start, g.group})
				continue
			}
			wordGroups[word] |= g.group
		}
	}
}

// Add adds to w the groups of all words in value, which is a class or an id. Words end at spaces,
// signs, digits, and before a capital after a small letter: the words of "postBody-2" are "post" and
// "body".
func (w *Words) Add(value []byte) {
	var buffer [32]byte
	word := buffer[:0]
	flush := func() {
		if len(word) > 1 {
			group, known := wordGroups[string(word)]
			if !known && len(word) > 4 {
				for _, s := range wordStarts {
					if len(word) >= len(s.start) && string(word[:len(s.start)]) == s.start {
						group |= s.group
					}
				}
				if n := len(word) - 1; group == 0 && word[n] == 's' {
					group = wordGroups[string(word[:n])]
				}
			}
			*w |= group
		}
		word = buffer[:0]
	}
	small := false
	for _, c := range value {
		switch {
		case 'a' <= c && c <= 'z':
			small = true
		case 'A' <= c && c <= 'Z':
			if small {
				flush()
			}
			small = false
			c |= 0x20
		default:
			flush()
			small = false
			continue
		}
		if len(word) < len(buffer) {
			word = append(word, c)
		}
	}
	flush()
}

// WordCount is the number of groups of words. Each group is one bit of a Words, and has a constant
// such as WordMain.
const WordCount = 54
