// Package compat answers in the forms of other search services, below /compat/, so that front ends
// made for them search here unchanged:
//
//	POST /compat/algolia/1/indexes/*/queries          Algolia: several searches
//	POST /compat/algolia/1/indexes/{index}/query      Algolia: one search
//	POST /compat/meilisearch/multi-search             Meilisearch: several searches
//	POST, GET /compat/meilisearch/indexes/{uid}/search   Meilisearch: one search
//	GET /compat/meilisearch/health, /version          Meilisearch: whether and what answers
//
// # How to configure front ends
//
// HOST is the host of the server with its port, such as search.example.org. KEY is a key with the scope
// search, or any text if the server needs no keys. Visitors can read the key in the page. INDEX is the
// name of a collection, or any other name to search everything.
//
// DocSearch (@docsearch/js, versions 3 and 4; version 5 has indices: ["INDEX"] in place of indexName):
//
//	docsearch({container: "#search", appId: "bucketsearch", apiKey: "KEY", indexName: "INDEX", maxResultsPerGroup: 20,
//	  transformSearchClient: client => (client.transporter.hosts.splice(0, Infinity,
//	    {url: "HOST/compat/algolia", accept: "readWrite", protocol: "https"}), client)})
//
// InstantSearch (instantsearch.js, and its versions for React and Vue) with algoliasearch/lite, version 5:
//
//	const client = liteClient("bucketsearch", "KEY",
//	  {hosts: [{url: "HOST/compat/algolia", accept: "readWrite", protocol: "https"}]})
//	instantsearch({indexName: "INDEX", searchClient: client})
//
// InstantSearch with @meilisearch/instant-meilisearch:
//
//	const {searchClient} = instantMeiliSearch("https://HOST/compat/meilisearch", "KEY")
//	instantsearch({indexName: "INDEX", searchClient})   // "INDEX:date:desc" shows the newest first
//
// docs-searchbar.js:
//
//	docsSearchBar({hostUrl: "https://HOST/compat/meilisearch", apiKey: "KEY",
//	  indexUid: "INDEX", inputSelector: "#search"})
//
// # Records
//
// What is found are records. There is one for each page, unless the front end shows sections: DocSearch,
// which asks for attributes such as hierarchy.lvl1, and docs-searchbar.js, which names itself in the header
// X-Meilisearch-Client. Then a page gives a record of its own and one for each of its matching sections,
// at most four in all:
//
//	type      of                                  hierarchy.lvl0   lvl1    lvl2      content
//	lvl1      the page                            where it is      title             the snippet, if it is in no section
//	content   the section of the snippet          where it is      title   heading   the snippet
//	lvl2      another section with the words      where it is      title   heading
//
// Where a page is, by which DocSearch groups records, is the name of its collection, or its site if it is
// in none, or if there is only one collection or only one is searched. Without sections, a page's record is of type content, with
// all its attributes. Algolia's records have an object hierarchy, Meilisearch's have attributes such as
// hierarchy_lvl0, as its scraper of documentation writes them. Further attributes of both are title, url,
// url_without_anchor, anchor, content, site, lang, collection (a list), media_type and date. All are sent,
// whatever attributesToRetrieve asks for.
//
// # Highlights
//
// If the tag that highlights words is HTML, such as <em>, the front end shows texts as HTML. Then their
// own signs are escaped (&lt; for <), and so are content and the hierarchy without highlights, because
// DocSearch shows these as HTML, too. If the tag is another mark, such as __ais-highlight__ of
// InstantSearch, nothing is escaped: the front end does that.
//
// # Filters, facets and order
//
// Filters and facets know the attributes site, lang (or language), collection, type (the media type) and,
// in filters alone, date. A filter is a list of conditions all of which must hold, each of them possibly
// with alternatives for the same attribute. Example: lang:en AND (site:a.org OR site:b.org). Other filters
// and parameters are ignored; the member message of an answer says so. The newest pages come first with
// Meilisearch's sort ["date:desc"], and for Algolia with an index name that ends in _date_desc, which a
// menu for sorting can offer. An empty query finds all pages.
//
// # Limits
//
// A request has at most 64 KB and ten searches. An answer has at most a hundred records, of the first
// thousand; see message for what was cut. An error has the form {message, status} for Algolia, and
// {message, code, type, link} for Meilisearch. Where a key has a limit, each search counts as a request.
package compat
