package tests

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"github.com/bucketsearch/bucketsearch/functions/query/client"
	"github.com/bucketsearch/bucketsearch/functions/shared/task"
	"github.com/bucketsearch/bucketsearch/local/stream"
	"github.com/bucketsearch/bucketsearch/tests/helm"
)

const chart = "../infra/servers/chart"

// deployed is what tests read of a Deployment or a ScaledObject that the chart makes.
type deployed struct {
	Kind     string
	Metadata struct{ Name string }
	Spec     struct {
		Template struct {
			Spec struct{ Containers []container }
		}
		ScaleTargetRef struct{ Name string }
		Triggers       []struct {
			Type     string
			Metadata struct{ Stream, ListName string }
		}
	}
}

// container is what tests read of a container.
type container struct {
	Image                         string
	Args                          []string
	Env                           []struct{ Name, Value string }
	LivenessProbe, ReadinessProbe struct{ HTTPGet struct{ Path string } }
}

// deploy renders the chart with values. It returns the containers of the program by the names of their Deployments,
// and the objects by which KEDA scales some of them.
func deploy(t *testing.T, values string) (containers map[string]container, scaled []deployed) {
	t.Helper()
	rendered, err := helm.Render(chart, "bucketsearch", values)
	if err != nil {
		t.Fatal(err)
	}
	containers = make(map[string]container)
	for _, object := range rendered.Objects {
		text, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		var d deployed
		if err := json.Unmarshal(text, &d); err != nil {
			t.Fatal(err)
		}
		if d.Kind == "ScaledObject" {
			scaled = append(scaled, d)
		}
		for _, c := range d.Spec.Template.Spec.Containers {
			if strings.Contains(c.Image, "/bucketsearch:") {
				containers[d.Metadata.Name] = c
			}
		}
	}
	return containers, scaled
}

// TestChartCommands lets the program read the command lines of all containers that the chart makes of several values.
// Every function must be run.
func TestChartCommands(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob("helm/testdata/values/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no values: %v", err)
	}
	for _, path := range paths {
		values, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var run []string
		containers, _ := deploy(t, string(values))
		for name, c := range containers {
			if said, err := newPlace(t).run(c.Args[0], append(c.Args[1:], "--help")...); err != nil || !strings.Contains(said, "bucketsearch "+c.Args[0]) {
				t.Errorf("%s, %s: bucketsearch %q: %v\n%s", path, name, c.Args, err, said)
			}
			for _, argument := range c.Args {
				if strings.Contains(argument, "PASSWORD") {
					t.Errorf("%s, %s: the command line shows a password: %s", path, name, argument)
				}
				if list, is := strings.CutPrefix(argument, "--functions="); is {
					run = append(run, strings.Split(list, ",")...)
				}
			}
		}
		if want := slices.Sorted(slices.Values(task.Queues)); !slices.Equal(slices.Sorted(slices.Values(run)), want) {
			t.Errorf("%s: the functions %q are run, want %q", path, run, want)
		}
	}
}

// cluster runs what the chart deploys: each container as a process, at most one of a Deployment.
type cluster struct {
	place
	containers map[string]container // by the names of their Deployments
	scaled     []deployed           // by which KEDA scales some of them
	redis      *goredis.Client
	pods       map[string]*process // that run
	started    map[string]int      // how often
}

// start starts the container of a Deployment. Its flags differ from those in a pod in addresses and directories.
func (c *cluster) start(name string) {
	c.t.Helper()
	args := slices.Clone(c.containers[name].Args)
	here := strings.NewReplacer("=0.0.0.0:8080", "=127.0.0.1:0", "=/cache", "="+c.t.TempDir())
	for i, argument := range args {
		args[i] = here.Replace(argument)
	}
	if args[0] == "work" {
		args = append(args, "--allow-private") // the site is on this machine
	}
	pod := c.place
	for _, v := range c.containers[name].Env {
		pod.env = append(slices.Clip(pod.env), v.Name+"="+v.Value)
	}
	c.pods[name] = pod.start(args[0], args[1:]...)
	c.started[name]++
}

// end tells a container to end, as Kubernetes does, and awaits that. Before, it awaits that the program has begun: until
// then, a signal kills it.
func (c *cluster) end(name string) {
	c.t.Helper()
	c.pods[name].await(c.t, func() bool { return c.pods[name].out.String() != "" })
	if err := c.pods[name].Process.Signal(syscall.SIGTERM); err != nil {
		c.t.Fatal(err)
	}
	if _, err := c.pods[name].wait(); err != nil {
		c.t.Errorf("after SIGTERM: %v", err)
	}
	delete(c.pods, name)
}

// isScaled reports whether KEDA scales a Deployment.
func (c *cluster) isScaled(name string) bool {
	return slices.ContainsFunc(c.scaled, func(s deployed) bool { return s.Spec.ScaleTargetRef.Name == name })
}

// scale starts and ends containers as KEDA does, but keeps none for some time when nothing waits any more. It returns
// the number of messages that wait or are in work, without those for later.
func (c *cluster) scale() (now int64) {
	c.t.Helper()
	for _, s := range c.scaled {
		all := int64(0)
		for _, trigger := range s.Spec.Triggers {
			stream, err := c.redis.XLen(c.t.Context(), trigger.Metadata.Stream).Result()
			if err != nil {
				c.t.Fatal(err)
			}
			list, err := c.redis.ZCard(c.t.Context(), trigger.Metadata.ListName).Result()
			if err != nil {
				c.t.Fatal(err)
			}
			now, all = now+stream, all+stream+list
		}
		name := s.Spec.ScaleTargetRef.Name
		if running := c.pods[name] != nil; all > 0 && !running {
			c.start(name)
		} else if all == 0 && running {
			c.end(name)
		}
	}
	return now
}

// TestChart crawls a site by what the chart deploys. Fetchers and indexers run only because the keys at which KEDA looks
// say so. All must be crawled, indexed and found as by one program, and every process must end when it is told to.
func TestChart(t *testing.T) {
	t.Parallel()
	tr := newTrial(t, 40)
	p, store := storeOf(t)
	p.env = []string{"AWS_ACCESS_KEY_ID=access", "AWS_SECRET_ACCESS_KEY=secret secret"}
	remote := p
	remote.data = filepath.Join(t.TempDir(), "unused")
	bucket := []string{"--s3", store.Endpoint + "/bucketsearch"}
	_, rdb := queuesOf(t)
	c := &cluster{place: remote, redis: rdb, pods: make(map[string]*process), started: make(map[string]int)}
	c.containers, c.scaled = deploy(t, fmt.Sprintf("image: r/bucketsearch:1\ns3: %s\nredis: {address: %q}\n", bucket[1], rdb.Options().Addr))
	remote.must("publish", append(bucket, tr.collection(t))...) // before, because TestWorkers begins without it, and may wait for a sweep
	for name := range c.containers {
		if !c.isScaled(name) {
			c.start(name)
		}
	}
	always := []string{"bucketsearch-query", "bucketsearch-work-clocks"}
	if running := slices.Sorted(maps.Keys(c.pods)); !slices.Equal(running, always) {
		t.Fatalf("%q run at first, want %q", running, always)
	}
	c.pods["bucketsearch-work-clocks"].await(t, func() bool {
		now := c.scale()
		status := remote.status(bucket...)
		if status.Discovered < len(tr.quiet.States) || status.Pending > 0 || status.Unpacked > 0 {
			if c.pods["bucketsearch-work-index"] == nil {
				return false // only messages of the program may start it
			}
			// Else the last pages would wait for a minute.
			if err := stream.NewSender(rdb).Send(t.Context(), task.Pack, []byte(`{"storage":0,"flush":true}`), 0); err != nil {
				t.Fatal(err)
			}
			return false
		}
		return status.Unindexed == 0 && now == 0
	})
	for name := range c.containers {
		if c.started[name] == 0 {
			t.Errorf("%s was never started", name)
		}
	}

	page := strings.TrimSuffix(c.pods["bucketsearch-query"].searchPage(t), "/")
	answers, err := (&client.Client{URL: page}).Search(t.Context(), client.Query{Text: "castle garden"})
	if want := tr.quiet.Answers["castle garden"].Total; err != nil || answers.Total != want {
		t.Errorf("the search page finds %d pages, want %d: %v", answers.Total, want, err)
	}
	query := c.containers["bucketsearch-query"]
	for _, path := range []string{query.LivenessProbe.HTTPGet.Path, query.ReadinessProbe.HTTPGet.Path} {
		response, err := http.Get(page + path)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if path == "" || response.StatusCode != http.StatusOK {
			t.Errorf("probe %q: status %d", path, response.StatusCode)
		}
	}
	for _, name := range slices.Collect(maps.Keys(c.pods)) {
		c.end(name)
	}
	store.Close()
	p.verify()
	mustEqual(t, "pods", tr.quiet, p.picture(tr.queries))
}
