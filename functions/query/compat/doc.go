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
// An answer lists records. For most front ends, each page that is found is one record. Two front ends show
// sections of pages, too: DocSearch, which is recognized by requests for attributes such as hierarchy.lvl1, and
// docs-searchbar.js, which names itself in the header X-Meilisearch-Client. For these, a page gives one record
// for itself and one for each of its matching sections, at most four in all:
//
//	type      of                                  hierarchy.lvl0   lvl1    lvl2      content
//	lvl1      the page                            where it is      title             the snippet, if it is in no section
//	content   the section of the snippet          where it is      title   heading   the snippet
//	lvl2      another section with the words      where it is      title   heading
//
// The column "where it is" (hierarchy.lvl0), by which DocSearch groups records, has the name of the page's
// collection if several collections are searched. It has the page's site if the page is in no collection, if
// only one collection is searched, or if there is only one.
//
// For front ends that do not show sections, the record of a page has the type content and all attributes.
// Algolia's records have an object hierarchy. Meilisearch's records have attributes such as hierarchy_lvl0
// instead, with the names that Meilisearch's own crawler for documentation uses. Both have the further
// attributes title, url, url_without_anchor, anchor, content, site, lang, collection (a list), media_type and
// date. All attributes are sent, whatever attributesToRetrieve asks for.
//
// # Highlights
//
// If the tag that highlights words is HTML, such as <em>, the front end shows texts as HTML. Then signs such
// as < in the texts of pages are escaped (&lt;). This also holds for content and the hierarchy without
// highlights, because DocSearch shows them as HTML, too. If the tag is another mark, such as __ais-highlight__
// of InstantSearch, nothing is escaped, because the front end escapes the texts itself.
//
// # Filters, facets and order
//
// Filters and facets can have the attributes site, lang (or language), collection, type (the media type) and year
// (the year of the date that the page states for itself; a filter can have only one year). Filters can also have
// the attribute date. A filter is a list of conditions, all of which must hold. In place of a condition there may
// be several alternatives for the same attribute. Example: lang:en AND (site:a.org OR site:b.org).
// Other filters and parameters are ignored, and the member message of the answer says so.
//
// The newest pages come first if a request to Meilisearch's paths has the parameter sort ["date:desc"], or if a
// request to Algolia's paths has an index name that ends in _date_desc, such as docs_date_desc. An empty query
// finds all pages.
//
// # Limits
//
// A request has at most 64 KB and ten searches. An answer has at most 100 records, and only the first 1000
// records of a search can be reached by turning pages. The member message of an answer says if records were cut
// off for this reason. An error has the form {message, status} for Algolia, and
// {message, code, type, link} for Meilisearch. Where a key has a limit, each search counts as a request.
package compat
