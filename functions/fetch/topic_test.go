package fetch

import (
	"log/slog"
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/book"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/text/topic"
)

const aboutDatabases = `<title>Index of a database</title><p>A database finds a row by an index.
<p>See <a href=/database-tuning>more about the database</a>, <a href=/weather>the weather</a>, <img src=/database.png>.`

// TestTopic weighs the links of a page and the page by the topic of the
// collection, and by nothing without one.
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
		w["databases/weather"] >= w["databases/database-tuning"] || w["databases/weather"] < 100 || // stands on a good page
		w["cooking"] != 1 || w["cooking/weather"] == 0 || w["cooking/weather"] > 70 || // was hoped to be better
		w["c"] != 70 || w["c/weather"] != 0 {
		t.Errorf("weights %v", w)
	}
	for _, name := range []string{"databases", "cooking", "c"} {
		if w := weights[name+"/database.png"]; w != 0 {
			t.Errorf("an image on behalf of %s weighs %d", name, w)
		}
	}
}

// TestWeightOfTheSamePage: what is another address of a page weighs what the page
// was expected to.
func TestWeightOfTheSamePage(t *testing.T) {
	links := []book.Link{{Kind: book.Redirect}, {Kind: book.Canonical}, {Kind: book.Frame}, {Kind: book.Image}}
	weigh(new(topic.Topic), links, 0, 77)
	for i, want := range []uint8{77, 77, 1, 0} {
		if links[i].Weight != want {
			t.Errorf("%s weighs %d, want %d", links[i].Kind, links[i].Weight, want)
		}
	}
}

// TestTopicsAreBuiltOnce, and again when the collection changes.
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
