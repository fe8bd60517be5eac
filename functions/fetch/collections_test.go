package fetch

import (
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/layout"
	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/faultblob"
	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/settings"
	"github.com/bucketsearch/bucketsearch/strategy/text/topic"
)

// TestAgents requests targets for collections with different User-Agents. Each target must be
// requested with the agent of its collection, under the rules that robots.txt and pages have for
// this agent.
func TestAgents(t *testing.T) {
	var asked []string
	w := newWorld(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			_, _ = w.Write([]byte("User-agent: newsbot\nDisallow: /no\n\nUser-agent: *\nDisallow: /never\n"))
			return
		}
		asked = append(asked, r.URL.Path+" "+r.UserAgent())
		w.Header().Set("Content-Type", "text/html")
		_, _ = w.Write([]byte(`<meta name=newsbot content=nofollow><a href=/x>x</a>`))
	}))
	w.publish(t, collection.Collection{Name: "news", Agent: "newsbot/2.0"})
	b := w.batch("/no", "/yes", "/no", "/yes", "/never")
	b.Robots = []string{w.server.URL}
	for i := range 2 {
		b.Targets[i].URL += "?news"
		b.Targets[i].Collections = []string{"news"}
	}
	b.Targets[3].Collections = []string{"nobody's"}
	got := w.run(t, b)
	stored, skipped := end{book.Stored, ""}, end{book.Skipped, "robots"}
	if diff := cmp.Diff([]end{skipped, stored, stored, stored, skipped}, ends(got)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"/yes newsbot/2.0", "/no bucketsearch-test", "/yes bucketsearch-test"}, asked); diff != "" {
		t.Error(diff)
	}
	for _, l := range got.Ledger.Links {
		if follow := l.Rel == ""; follow == (l.Collection == "news") {
			t.Errorf("link on behalf of %s: rel %q", l.Collection, l.Rel)
		}
	}
}

// TestNewCollection requests a target for a collection that was published after the settings were
// cached: the settings must be read again.
func TestNewCollection(t *testing.T) {
	agent := ""
	w := newWorld(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { agent = r.UserAgent() }))
	w.run(t, w.batch("/"))
	old := w.Settings
	w.publish(t, collection.Collection{Name: "news", Agent: "newsbot/2.0"})
	w.Settings = old
	b := w.batch("/")
	b.Version.Token++
	b.Targets[0].Collections = []string{"news"}
	w.run(t, b)
	if agent != "newsbot/2.0" {
		t.Errorf("asked as %q", agent)
	}
}

// TestAllowedBySettings requests addresses that are not public. A request may reach such an address
// only if a collection allows the address in its settings. The transport is the same in all cases.
func TestAllowedBySettings(t *testing.T) {
	w := newWorld(t, respond(200, "text/html", "<p>"))
	names := nameServer{"intranet.test.": {ip4: "127.0.0.1"}}
	transport := newTransport(false, names.dial)
	t.Cleanup(transport.CloseIdleConnections)
	w.Transport = transport
	stored, refused := end{book.Stored, ""}, end{book.Failed, "address refused"}
	for i, c := range []struct {
		allow []string
		want  []end // ends of the URLs on 127.0.0.1 and on intranet.test
	}{
		{nil, []end{refused, refused}},
		{[]string{"10.0.0.0/8"}, []end{refused, refused}},
		{[]string{"intranet.test"}, []end{refused, stored}},
		{[]string{"127.0.0.0/8"}, []end{stored, stored}},
	} {
		w.publish(t, collection.Collection{Name: "inside", Allow: c.allow})
		b := w.batch("/", "/")
		b.Version.Token += uint64(i)
		b.Targets[1].URL = strings.Replace(b.Targets[0].URL, "127.0.0.1", "intranet.test", 1)
		if diff := cmp.Diff(c.want, ends(w.run(t, b))); diff != "" {
			t.Errorf("with %q: %s", c.allow, diff)
		}
		transport.CloseIdleConnections()
	}
}

// TestWithoutSettings delivers a batch while the settings cannot be read. The message must fail, so
// that the queue delivers it again. When the settings can be read again, the batch must be fetched.
func TestWithoutSettings(t *testing.T) {
	w := newWorld(t, respond(200, "text/html", "<p>"))
	away := true
	w.Settings = &settings.Cache{Now: w.Now, Bucket: faultblob.New(w.bucket, func(faultblob.Call) faultblob.Fault {
		if away {
			return faultblob.Before
		}
		return faultblob.None
	})}
	b := w.batch("/")
	if w.deliver(t, b, 1) {
		t.Error("the message is done")
	}
	if _, err := w.bucket.Head(t.Context(), layout.SpoolKey(b.Storage, b.Version)); !errors.Is(err, blob.ErrAbsent) {
		t.Errorf("it left an object: %v", err)
	}
	away = false
	if diff := cmp.Diff([]end{{book.Stored, ""}}, ends(w.run(t, b))); diff != "" {
		t.Error(diff)
	}
}

const aboutDatabases = `<title>Index of a database</title><p>A database finds a row by an index.
<p>See <a href=/database-tuning>more about the database</a>, <a href=/weather>the weather</a>, <img src=/database.png>.`

// TestTopic checks the weights of pages and links. In a collection with a topic, pages and links
// must weigh more the closer they are to the topic. In a collection without a topic, the outcome of
// a page must have the weight that its URL has in the batch, and its links must have the weight 0.
func TestTopic(t *testing.T) {
	w := newWorld(t, respond(200, "text/html", aboutDatabases))
	w.publish(t, collection.Collection{Name: "databases", Topic: &collection.Topic{Words: []string{"database", "index"}}})
	w.publish(t, collection.Collection{Name: "cooking", Topic: &collection.Topic{Words: []string{"soup"}}})
	b := w.batch("/databases", "/cooking", "/c")
	for i, name := range []string{"databases", "cooking", "c"} {
		b.Targets[i].Collections, b.Targets[i].Weight = []string{name}, 70
	}
	got := w.run(t, b).Ledger
	weights := map[string]uint8{}
	for _, l := range got.Links {
		weights[l.Collection+parsed(t, l.Target).Path] = l.Weight
	}
	for i, o := range got.Outcomes {
		weights[b.Targets[i].Collections[0]] = o.Weight
	}
	if w := weights; w["databases"] < 200 || w["databases/database-tuning"] < 230 ||
		// the link is on a good page
		w["databases/weather"] >= w["databases/database-tuning"] || w["databases/weather"] < 100 ||
		// the page was expected to be better
		w["cooking"] != 1 || w["cooking/weather"] == 0 || w["cooking/weather"] > 70 ||
		w["c"] != 70 || w["c/weather"] != 0 {
		t.Errorf("weights %v", w)
	}
	for _, name := range []string{"databases", "cooking", "c"} {
		if w := weights[name+"/database.png"]; w != 0 {
			t.Errorf("an image on behalf of %s weighs %d", name, w)
		}
	}
}

// TestWeightOfTheSamePage checks that a redirect or canonical link, which leads to another address
// of the same page, gets the weight of the page's URL.
func TestWeightOfTheSamePage(t *testing.T) {
	links := []book.Link{{Kind: book.Redirect}, {Kind: book.Canonical}, {Kind: book.Frame}, {Kind: book.Asset}}
	weigh(new(topic.Topic), links, 0, 77)
	for i, want := range []uint8{77, 77, 1, 0} {
		if links[i].Weight != want {
			t.Errorf("%s weighs %d, want %d", links[i].Kind, links[i].Weight, want)
		}
	}
}

// TestTopicsAreBuiltOnce checks that the topic of a collection is built once, and again only for a
// new version of the collection.
func TestTopicsAreBuiltOnce(t *testing.T) {
	var all topics
	of := func(c collection.Collection) *topic.Topic {
		return all.of(c, slog.New(slog.DiscardHandler))
	}
	first := collection.Collection{Name: "t", Version: 1, Topic: &collection.Topic{Words: []string{"database"}}}
	second := first
	second.Version, second.Topic = 2, &collection.Topic{Words: []string{"vegetable"}}
	nothing := first
	nothing.Version, nothing.Topic = 3, &collection.Topic{Pages: []string{"https://a.test/"}}
	none := first
	none.Version, none.Topic = 4, nil

	built := of(first)
	if of(first) != built {
		t.Error("a topic was built twice")
	}
	if built.Link("database", "", "", 0) < 0.5 || of(second).Link("database", "", "", 0) != 0 {
		t.Error("a topic is not that of the version")
	}
	if of(second).Link("a vegetable soup", "", "", 0) < 0.5 {
		t.Error("a topic says nothing")
	}
	if got := of(nothing).Link("database", "", "", 0); got != 0 {
		t.Errorf("a topic of nothing finds %v in a link", got)
	}
	if of(none) != nil {
		t.Error("there is a topic where there is none")
	}
}
