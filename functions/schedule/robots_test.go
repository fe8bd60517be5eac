package schedule

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/bucketsearch/bucketsearch/functions/shared/functionstest"
	"github.com/bucketsearch/bucketsearch/strategy/collection"
	"github.com/bucketsearch/bucketsearch/strategy/frontier"
	"github.com/bucketsearch/bucketsearch/strategy/frontier/redistest"
)

func TestRobots(t *testing.T) {
	w := newWorld(t, redistest.Server(t), nil)
	cache := frontier.NewRobotsCache(w.Redis)
	body := []byte("User-agent: testbot\nDisallow: /1\nCrawl-delay: 2\n")
	if err := cache.Put(t.Context(), "http://a.example", 200, body, w.clock.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	w.admit(2, "")
	functionstest.Admit(t, w.Redis, w.inForce, "https://a.example/1") // another origin on the same host
	batches := w.run()
	if len(batches) != 1 || batches[0].DelayMillis != 2000 {
		t.Fatalf("batches %+v, want one with the delay of robots.txt", batches)
	}
	denied := make(map[string]bool)
	for _, target := range batches[0].Targets {
		denied[target.URL] = target.Denied == "robots"
	}
	want := map[string]bool{"http://a.example/0": false, "http://a.example/1": true, "https://a.example/1": false}
	if diff := cmp.Diff(want, denied); diff != "" {
		t.Errorf("denied (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"https://a.example"}, batches[0].Robots); diff != "" {
		t.Errorf("robots.txt to ask for (-want +got):\n%s", diff)
	}
	w.settle(batches[0])
	w.clock.Advance(time.Hour)
	functionstest.Admit(t, w.Redis, w.inForce, site+"2")
	if batches := w.run(); len(batches) != 1 || !cmp.Equal(batches[0].Robots, []string{"http://a.example"}) {
		t.Errorf("after an hour: %+v, want robots.txt to be asked for again", batches)
	}
}

// TestRobotsOfAgents checks that robots.txt is applied to the user agent of each URL's collection,
// or to the function's if the collection sets none.
func TestRobotsOfAgents(t *testing.T) {
	w := newWorld(t, redistest.Server(t), nil)
	w.publish("other", func(c *collection.Collection) { c.Agent = "otherbot/2.0" })
	body := []byte("User-agent: testbot\nDisallow: /1\nUser-agent: otherbot\nDisallow: /2\nCrawl-delay: 3\n")
	if err := frontier.NewRobotsCache(w.Redis).Put(t.Context(), "http://a.example", 200, body, w.clock.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{"1", "2"} {
		w.enter(frontier.Entry{URL: site + url + "?test", Collection: functionstest.Collection})
		w.enter(frontier.Entry{URL: site + url + "?other", Collection: "other"})
		w.enter(frontier.Entry{URL: site + url + "?none", Collection: "deleted"})
	}
	batches := w.run()
	if len(batches) != 1 || batches[0].DelayMillis != 3000 || batches[0].Robots != nil {
		t.Fatalf("%+v, want one batch with the longest delay", batches)
	}
	want := map[string]string{
		site + "1?test": "robots", site + "2?test": "",
		site + "1?other": "", site + "2?other": "robots",
		site + "1?none": "robots", site + "2?none": "",
	}
	if diff := cmp.Diff(want, deniedIn(batches)); diff != "" {
		t.Errorf("denied (-want +got):\n%s", diff)
	}
}

// TestRobotsOfNobody leases a batch whose only URL must not be requested, because a limit is
// reached. So fetch needs no robots.txt, and the batch must not ask for one.
func TestRobotsOfNobody(t *testing.T) {
	w := newWorld(t, redistest.Server(t), func(c *collection.Collection) { c.HostPages = 1 })
	w.admit(1, "")
	w.settle(w.run()[0])
	functionstest.Admit(t, w.Redis, w.inForce, "https://a.example/")
	if batches := w.run(); len(batches) != 1 || len(batches[0].Targets) != 1 || batches[0].Robots != nil {
		t.Errorf("%+v, want one batch without robots.txt", batches)
	}
}
