// Package search searches any number of segments as if they were one.
//
// # Query language
//
//	fox dog            documents that hold either word; a document that holds
//	                   all words scores more, and words near each other
//	                   score more
//	+fox -dog          fox must occur, dog must not
//	"red fox"          red directly followed by fox
//	"red fox"~3        both words, moved from these positions by three words
//	                   at most; swapping two words is two moves
//	fox*               words that begin with fox
//	foks~ foks~2       words at most one edit away, or two; without a number
//	                   one edit for short words, two for long ones. An edit
//	                   inserts, deletes or replaces a letter or swaps two
//	                   neighbours
//	site:example.org   documents of the site; -site: excludes the site
//	lang:en            documents in the language
//	collection:news    documents of the collection
//	type:pdf           documents of the MIME type, or of its second half
//	type:image         images instead of documents (see below)
//	after:2026-01-31   documents of that day or later, by the date that the page states for
//	                   itself (see Dates)
//	before:2026        documents from before that year, by the same date
//	link:https://a/b   documents with a link to this page; link:a, to any page of this host (see Linking)
//	dup:all            documents with the same text one by one (see Query.Fold)
//	red OR fox         either word will do; both score as one word with two synonyms. Also
//	                   red | fox and (red|fox)
//	dog (red OR fox)   a document that has dog and red, or dog and fox, counts as one with
//	                   all words of the query
//	+(red OR fox)      one of them must occur; -(red OR fox): neither may
//	"red fox" OR "blue dog"   one of the phrases must occur
//	intitle:fox        the word must be in the title; also intitle:"red fox", -intitle:fox, and
//	                   allintitle:red fox for all words that follow
//	inurl:fox          the word must be in the address, of which each part is a word
//	inanchor:fox       the word must be in the text of a link to the document; the words of
//	                   inanchor:"red fox" need not stand together
//
// One written word may be several words of the index ("os.path", Chinese). With a sign
// before it, such a word is searched as a phrase. Every text is a query: there are no
// syntax errors.
//
// OR joins the clause before it with the one after it: a b OR c means a (b OR c). The clauses that OR joins
// are the alternatives of a group. There are two kinds of groups:
//
//	(red OR fox)              all alternatives are single words: the group scores as one word, and is
//	                          not required
//	(red OR "blue fox")       an alternative is a phrase, has a field such as intitle:, or has several
//	(dog OR (red fox))        words: one of the alternatives must occur, even without +. All words of
//	                          an alternative must occur. The words of the group score if they occur.
//
// A sign before a parenthesis holds for each word within. OR joins neither filters nor excluded words: these
// hold for the whole query.
//
// A query that has filters or excluded words, but no other words, such as site:example.org or -fox, lists all
// documents that the filters accept and that lack the excluded words, the newest first (see Dates). Files
// without text, such as images, are not listed; a note tells their number. An empty query lists all documents
// if [Query].All is true; otherwise it finds none.
//
// Where a sign, a quote, a parenthesis or a filter does not seem to be meant as such, it is ordinary text:
//
//	„Model C“-Schulen         the hyphen is no sign, as no space is before it
//	git log -p --oneline      options of commands: a minus excludes neither a single letter or digit nor a
//	                          word with another minus; -"p" excludes p, as does -p in a query with a group
//	f(x) (see above)          no parenthesis groups, as there is no OR and no sign before it
//	on|off                    a | without space around it joins only in parentheses
//	TO BE OR NOT TO BE        OR is a word in a sentence in capitals, as are or and ODER always
//	who lived before:christ   words, as christ is no date
//	"gray fox cubs"           the words alone, if they stand together nowhere
//	HttpClient                also http-client and http_client, and http client where the two stand
//	                          together; if no page matches, http and client anywhere
//	http client               also HttpClient, http-client and http_client, below http client
//	a long sentence that …    with more than eight words outside of its quotes: the
//	                          quoted words need not stand together, and a minus before one of its
//	                          words excludes nothing if words without a sign follow, except in a
//	                          query with a group
//
// [Result].Notes say where that was done, except for parentheses, OR and words with two minuses.
//
// A query uses at most [MaxText] bytes, of which [MaxWords] words are looked up and the
// 64 rarest of them score. A prefix or a word with edits stands for at most
// [MaxExpansions] words, and all [MaxExpanding] of them for at most 256 together: those with the fewest
// edits, then the most frequent.
// [Result].Notes name what was cut; the words that no page has, if pages have others of the query's words; and
// filters that cannot be obeyed, such as after:tomorrow with a sign before it, and were ignored. No text is
// refused. A [Refusal] answers other fields of a [Query] that ask for too much.
//
// # Dates
//
// after:, before:, [Query].ByDate and the facet [Year] use the date that a page states for itself, such as
// "Last updated on Nov 26, 2026" (segment.Document.Date), as a day in UTC. The day of the download does not
// count: otherwise all pages of an old manual would be new on the day of a crawl. A page that states no date
//
//	with after: or before:   does not match; a note says how many pages that the other filters accept
//	                         were left out for this reason
//	sorted by date           comes after all pages with a date; such pages are sorted by score
//	counted by year          is not counted
//
// Pages of the same day are sorted by score too, and pages with the same score by identity. If the matches
// are sorted by date, all bonuses for similar and for new pages, [Query.Spread] and the order of
// translations are left out. Of alike pages the newest is shown.
//
// # Scores
//
// The score of a document is the sum, over the words of the query in their
// order, of each word's BM25F (k1 = 1.5, k3 = 8; Robertson and Zaragoza, The
// Probabilistic Relevance Framework, 2009, 3.5):
//
//	Σ words idf·(k1+1)·F / (k1 + F) · (k3+1)·q / (k3 + q)
//	F = Σ fields w·f / (1 − b + b·L/average)
//
//	w         weight of the field: title 3, headings 2, body 1, address 0.25 (these and the
//	          other weights stand in weights.json)
//	b         0.6 in the body, 0.5 in the other fields
//	L         length of the field, as the segment stores it, but at most three times
//	          the average: a still longer page says more, not the same in more words.
//	          In a long query (see below) L has no upper limit. Of a body it is at least
//	          a quarter of the average, so that pages of a few words have no advantage
//	average   average length of the field in the documents that have it
//	f, q      frequency of the word in the field, and in the query. A field that is crammed with
//	          the word, as that of no text for readers, has f = 1: it has the word more than four
//	          times and more than once in two words of a title or of headings, or eight of a body
//	idf       inverse document frequency of the word, all synonyms together
//
// Links to a page count, too, by their anchors (see [Part].Anchors). For each word, the score
// by the same formula for these anchors is halved and added. In this formula
//
//	F         number of anchors with the word; equal anchors of one site count once
//	idf       as above; for a word that is in no text, by the number of pages whose anchors have it
//
// A page that has a word only in its anchors counts as a page with the word: it satisfies +, and
// may score more for having all words (see below). Phrases, words near each other and excluded
// words are looked for in texts only, so that no link hides a page. Prefixes and words with edits
// match words that texts have, not words that only anchors have.
//
// The start page of a site has the names of the site (segment.NameTerm): the words of its host,
// of its title, and of the name that it gives the site. If the query has some of these words, they
// add to the score of the start page
//
//	4 · W · (W / A)⁴
//
//	W   sum of the weights of these words; the weight of a word is idf · (k3+1)·q / (k3 + q)
//	A   sum of the weights of all words of the query
//
// So a query that is the name of a site finds the start page first, and a query with other words
// besides the name finds other pages. The factor for all words (see below) does not multiply it.
//
// Deleted documents count until a merge removes them, so that scores do not depend on
// how documents are divided among segments. Of a word's synonyms the one with the
// highest score counts; a synonym n edits away scores 1/(1+n) of its BM25F.
//
// # Languages
//
// A word is searched by the terms that it has in each language of the corpus. The terms
// are synonyms, so a word is found in whatever language its page is. The probability that
// the query is in a language is computed from its words by naive Bayes: from the number of
// documents of the language that have each word, and the number of all its documents. This
// probability decides about
//
//	idf, average   they are weighted means over the languages, so that the word der is not
//	               rare in a German query, however few documents are German
//	terms          a term that only the rules of unlikely languages give scores less, but at
//	               least 0.6 times
//	alike pages    of pages with the same text, one in the query's likeliest language is shown
//
// A term of a word scores only 0.3 times in a document if the rules of the document's language do not
// give this term for the word. For example, the rules of Spanish give configur for configurando. English
// pages have the same term, from configure; but the rules of English do not give it for configurando.
//
// A document that holds all words that occur in the index gets half of their scores in addition, if
// there are two or more (for stop words of long queries see below). Each quoted phrase adds half the BM25F of a word whose idf
// is the sum of its words' idf.
//
// A page whose title the query names gets a bonus, if it is among the best hundred documents or ties with
// the hundredth:
//
//	T · (T/A)² · n/L
//
//	T   sum of the weights of those words of the query that the title has
//	A   sum of the weights of all words of the query
//	n   number of words of the title that are words of the query, as they count above (f)
//	L   number of all words of the title
//
// If the body has a word of the title, and is shorter than a sixteenth of the average, the bonus is lower in
// proportion: the title then promises more than the page has.
//
// A page that defines names of the query gets another bonus, under the same condition. Example: the query has
// the word print, and the page, of a manual, describes the function print.
//
//	D · (D/A)²
//
//	D   sum of the weights of those words of the query that the page defines as names (see
//	    segment.DefinitionTerm), times 1.5 if the name stands alone, and not as dumps in json.dumps
//	A   as above; D/A is at most 1
//
// Two plain words that follow each other in the query score more where they are near each
// other: they are searched as two phrases, each scored like a quoted one. Of all such pairs the sixteen
// with the rarest words count, and only in the best hundred documents and in those that tie
// with the hundredth.
//
//	the document has                          weight, times the sum of the words' idf
//	the words as they follow each other       0.6
//	the words at most six moves from that     0.15 more
//	the same for pairs of characters of       a tenth of these
//	Chinese, Thai …
//	all pairs of a written word, at most 12,  0.78
//	as they follow each other in it
//
// In these sums a stop word, such as what or you, counts 0.3 times, unless the query has no other words.
//
// If a query is long (see below), the same documents get a bonus for the passage of the body that has the most of
// its words. In a passage, any two words are at most 25 positions from each other:
//
//	2 · doubt · P · (P/A)² · L/(L + 300)
//
//	P   sum of the idf of those words of the query that the passage has
//	A   sum of the idf of all words of the query; of more than sixteen, the rarest count
//	L   length of the body in words: in a short text, words are near each other by chance
//
// For example, a long manual has all words of a question, but in different chapters; the page with the answer has
// them in one or two sentences. Queries in a script without spaces have no passages. In a long query the bonus for
// words near each other is multiplied by 1 − 0.5 · doubt.
//
// In such scripts a word is indexed as overlapping pairs of characters. If such a word has a neighbour in
// the query, the two phrases for these neighbours have all pairs of the word.
//
// A query of five words or more (two pairs of characters of a script without spaces count as one) is a
// long one, which often describes what is wanted and names no page. It differs from a shorter one in
// four ways:
//
//	length      of very long pages counts in full (see above): they have many words of the query by chance
//	idf         of each word is replaced by idf² / (idf + 1), so that rare words count more
//	stop words  count 0.3 times also as words of their own, by the lists of the languages in which the
//	            query may be written (analysis.StopWords). A document has all words of the query even if it
//	            lacks stop words, unless the query has no others: a page with how, do and I answers no better
//	support     each of the best hundred matches, and of those that tie with the hundredth,
//	            gets 0.8 · doubt · Σ cosine · (score − least), summed over the four of these
//	            matches that are most similar to it
//
//	cosine      of the angle between the two documents' vectors (see segment.Vector), in which
//	            a term counts by ln(1 + matches / matches with the term)
//	least       the lowest score of these matches
//	doubt       2 · (1 − score of the best match / greatest score that words can give), at most 1.
//	            It is low if the query names a page, by words of its title. Then similar pages do
//	            not matter, and the order of the words does.
//
// Documents with a cosine of 0.7 and more are copies, and do not support each other. No match is
// supported if a segment lacks vectors. Segments of earlier versions of the program lack them until
// they are indexed anew.
//
// A query that asks for new pages, by a word such as latest, news or aktuell (see newWords), prefers
// them. Each of the best hundred matches, and of those that tie with the hundredth, gets a bonus: 0.5
// times its score if no other of these matches is newer, half of that if it is a year older, and so on.
// The date is the page's own (segment.Document.Date); a page without a date gets no bonus.
//
// For a joined word such as e-mail (see package analysis), the words e, mail and email are searched.
// A document with e and mail has all words, even without email. A document with email counts as having
// e and mail, too; these then score 0.8 times.
//
// Plain words that follow each other are searched as one joined word, too: http client also finds documents that
// have only HttpClient, http_client or http-client. Such a document counts as having both words, which then score
// 0.8 times. The joined word does not count for the idf of the words, nor for their nearness. Two to four
// words are joined if they consist of digits, and of letters of scripts with upper and lower case. A query has
// at most eight joined words, those of two words first. A joined word that is a stop word is left out: in to
// does not find into.
//
// Matches with equal scores are ordered by identity, a hash of the URL.
//
// # Synonyms
//
// With [Query].Synonyms (sets of words, such as postgres and postgresql), a plain word of the query also finds
// pages with the other words of its set. These words are searched like further terms of the word: the highest
// of their scores counts, the idf is that of all together, and a page with one of them has the word. Words of
// sets are analysed like words of queries, so the query databases finds the synonyms of database. These have
// no synonyms: words in quotes, with a sign or in a group, prefixes, and words with edits. The synonyms of a
// synonym are not searched. One side of a synonym may be several words:
//
//	query ha,                  a page has the word ha if the words high and availability stand next to
//	synonym high availability  each other in one of its texts. They score as one term. Anchors (texts of
//	                           links), images and translated queries are not searched for such a synonym.
//	query high availability,   a page with ha has both words of the query. If synonyms of different
//	synonym ha                 lengths begin at the same word of the query, the longest counts.
//
// In snippets, high and availability are both marked, also where they do not stand together. A query uses at
// most 100 synonyms, of which 16 may have several words; a note says so if there are more.
//
// # Snippets
//
// The snippet of a hit is the part of the body that has the most of the query's words, without the
// title, which many pages repeat as their first line. It begins with a sentence or between words, and
// ends between words. In a script without spaces, such as Thai, it may be cut between any two
// characters; an accent or vowel sign stays with its letter. Stop words are not marked, unless they are
// required or the query has no others.
//
// # Alike documents
//
// With [Query].Fold, documents with the same text, or nearly the same text and title, become one hit. They are
// looked for among the best matches: a hundred, or four times the number of hits that are asked for if this is
// more. Beyond the 500th hit they are shown one by one. Of the alike documents whose score is within 5 % of the
// best, the one in the likeliest language of the query is shown, or else the one with the shortest address that
// names its language. A directory and its index page (/a/ and /a/index.html) are one hit if they share half of
// their text, and the directory is shown. [Result].Total counts all alike documents.
//
// If no language of the query is 80 % probable, the languages of [Query].Reader decide which of
// several alike documents is shown. They also order translations of a page: the translations together
// keep their places among the hits, and those in the reader's languages take the first of these places.
// Translations are pages whose addresses differ only in the part that names their language, such as
// /de-DE/.
//
// With [Query].Spread, a site has at most two hits among the first ten, if there are ten
// such hits among the best thirty. Its other hits follow after the tenth.
//
// # Across languages
//
// With [Query].Across, a query is also translated, word by word, by dictionaries that were learnt from
// the index's own pages (see layout/dictionary). There is one search for each language:
//
//	the query's own    by its words, in all languages but those below
//	de                 in German pages, by the translations of its words; a word that the
//	                   dictionary lacks, such as a name, is searched as it stands
//
// The query's own language is the most probable one by the documents that have its words. All hits
// become one list, ordered by score. Scores in different languages are only roughly comparable, because
// each comes from the statistics of its own language. [Result].Translated has the translated words, and
// [Result].Notes says for which languages a dictionary is missing. Pages in these languages are searched by
// the untranslated words.
//
// # Mistyped queries
//
// [Result].Meant is the query that was probably meant, with its number of results. A query is examined for
// mistakes if one of its words is in no document, or if the query finds fewer than ten documents and one of its
// words is in only one or two documents. Each such word is replaced by words of the index, as they are written
// on pages:
//
//	vacum, vacumu            by a word that is one edit away, or two for words of eight letters or more.
//	                         Of several the one in most documents counts, in the languages that the
//	                         rest of the query or lang: suggests. A word that differs by a frequent slip,
//	                         such as two swapped letters, is preferred; one with another first letter
//	                         is avoided.
//	vacuumtable              by two words
//	data base                by one word, if one of the two is in no document
//	мфсггь, ghbdtn           by the word that the same keys give in another layout of the keyboard:
//	                         English instead of Russian, Ukrainian, Greek, Hebrew, Arabic or German, or
//	                         one of these instead of English
//
// Signs, quotes and filters stay as they are. Words with digits, excluded words, prefixes and words with edits
// are not corrected. A word in one or two documents is corrected only to a word in 500 times as many. One
// corrected query is searched for. It is offered if it finds more than the typed query; or if it finds
// something, and a word of the typed query is in no document. A query that is not examined needs no
// further reads.
//
// # Suggestions
//
// [Index.Suggest] offers titles, headings, anchors (texts of links to a page) and words for a text that is being
// typed. An anchor that leads to four pages or more of a segment, such as the word here, is left out, because it
// names none of them. The score of a suggestion is the sum of the following. In this scale, 8 more means twice
// the rank of the page.
//
//	rank of the page            its segment.Rank; that of the mean page if it has none
//	the title of a page         24
//	the heading of n pages      4 · log n, at most 28; the logarithm is binary
//	where a typed word begins   32 at the start of the suggestion, 16 at the start of a later word, 0
//	                            inside a joined word
//	a typed word is whole       4: it is not only the beginning of a word of the suggestion
//	length                      −2 for each eight characters, at least −30
//
// # Named pages
//
// A query may name pages by their addresses ([Query].Named). The first of these pages that is in the
// index and passes the filters is the first hit, whatever its words are. It gets the score of the
// second hit. The other hits are those that the query would find if this page did not match.
//
// # Pinned pages
//
// A query may pin pages ([Query].Pinned), which somebody has chosen for it. They are the first hits, even
// before a named page, each with the score of the best of the others. As with a named page, filters may
// leave them out, and the other hits are those that the query would find if these pages did not match. A
// pinned page in a language into which the query is translated (see Across languages) does not come first.
//
// # Images
//
// With type:image, every hit is an image, with the best page that shows it. The words
// are searched in the alternative texts of images, their captions, the names of their files
// and the words around them; the other filters select pages. In the segments an image
// belongs to its page: its words are terms of the page that no other search reads
// (segment.ImageTerm), so that they change neither hits nor scores of pages. The index has
// images of the main parts of pages, if they have a text or a telling name. If a host
// repeats an image on its pages, such as a logo, the index has it only with the first of
// them in each package.
//
// The images of the 200 best pages are scored, or of more pages if a result is asked for
// far down, by BM25F over the image's texts and the title of its page. An image must itself
// have what is required, and nothing of what is excluded. [Result].Total counts images, each
// address once, and facets count pages. Prefixes and words with edits stand for words of the
// pages' texts.
//
// # Leaves
//
// An index of more pages than one process can search in time has leaves ([Index.WithLeaves]): other processes, each with
// the caches of its own, that search a share of the segments. The process that is asked is the root. It asks all leaves
// at the same time, in two steps, or three if the query has prefixes or words with edits (see [Asked]):
//
//	expansions   which words begin with a prefix, or are so many edits away
//	totals       how many documents have each word; the root adds them up, and gives the sums to all leaves
//	best         the best documents of each leaf by their words and phrases; leaves that have no page of the wanted site
//	             or language, or no word of the query, are not asked for this
//
// So every document gets the score that it would get in one process. The root puts the best documents of all leaves into
// one order, adds the bonuses that depend on other matches, such as that for similar documents, and reads the documents
// of the hits itself. Hits, their order and their scores are the same as without leaves. Only totals and facets that are
// estimates may differ.
//
// A leaf that fails, or does not answer in time, is left out: the result is partial then, a note says how many are
// missing, and [Result].LeftOut says which and why. If no leaf answers, the search fails with [ErrNoLeaf].
//
// The root answers some queries alone, from the segments: for images; with Explain, Named, Pinned or Across; and with
// the filter link:. It also corrects mistyped queries alone.
//
// # Reading
//
// A search reads in steps, each in parallel for all segments:
//
//	words          only for prefixes and words with edits: pages of words (see segment.Words);
//	               for lone characters of scripts without spaces, in segments that have no
//	               terms for these: the terms that begin with them
//	terms          posting lists of the words, with positions where phrases need
//	               them; posting lists of anchors; the columns of filters and facets;
//	               the languages of documents if the query's words have different terms by language;
//	               for named and pinned pages, what finds them by their identities (see segment.Find)
//	positions      only where they are too large for the step before, and for synonyms of several
//	               words
//	vectors        only for long queries that do not name a page: those of the best matches, in blocks of
//	               neighbouring documents
//	identities     only when matches with equal scores are on different pages of hits
//	documents      of the hits
//	correction     only for mistyped queries: pages of words; in an index of several languages the
//	               terms of similar words; then the terms of the corrected query
//
// Suggestions are read in two steps: pages of keys, with the ranks of documents and the columns of filters; then blocks
// with the texts of the best suggestions. Columns that were read stay in a [Memory].
package search
