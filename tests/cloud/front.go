package cloud

import (
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// distribution is one of CloudFront, before the function query. It answers by what it has cached, if that is fresh, and
// otherwise asks the function. What it caches, and for how long, is said by the cache policy of the template and by the
// header Cache-Control of the function's answers.
type distribution struct {
	origin string      // URL of the function
	own    http.Header // headers that it sends to the function
	policy cachePolicy

	mu     sync.Mutex              // protects what follows
	now    time.Time               // time of the cache, which passes by advance only
	cached map[string]cachedAnswer // by everything that is in the cache key
}

// cachePolicy is a cache policy of the template; times are in seconds.
type cachePolicy struct {
	MinTTL, DefaultTTL, MaxTTL               int
	ParametersInCacheKeyAndForwardedToOrigin struct {
		EnableAcceptEncodingGzip bool
		QueryStringsConfig       struct{ QueryStringBehavior string }
		HeadersConfig            struct{ Headers []string }
	}
}

// cachedAnswer is an answer that a distribution keeps.
type cachedAnswer struct {
	header http.Header
	body   []byte
	until  time.Time // end of its freshness
}

// advance lets time pass for the cache.
func (d *distribution) advance(by time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.now = d.now.Add(by)
}

// key returns the cache key of a request.
func (d *distribution) key(r *http.Request) string {
	parts, by := []string{r.URL.EscapedPath()}, d.policy.ParametersInCacheKeyAndForwardedToOrigin
	if by.QueryStringsConfig.QueryStringBehavior == "all" {
		parts = append(parts, r.URL.RawQuery)
	}
	if by.EnableAcceptEncodingGzip {
		parts = append(parts, fmt.Sprint(strings.Contains(r.Header.Get("Accept-Encoding"), "gzip")))
	}
	for _, name := range by.HeadersConfig.Headers {
		parts = append(parts, strings.Join(r.Header.Values(name), ","))
	}
	return strings.Join(parts, "\x00")
}

// lifetime returns for how long an answer is fresh.
func (p cachePolicy) lifetime(h http.Header) time.Duration {
	control := strings.Join(h.Values("Cache-Control"), ",")
	seconds := p.DefaultTTL
	if age := regexp.MustCompile(`\bmax-age=(\d+)`).FindStringSubmatch(control); age != nil {
		seconds, _ = strconv.Atoi(age[1])
	}
	if regexp.MustCompile(`\b(private|no-store|no-cache)\b`).MatchString(control) {
		seconds = 0
	}
	return time.Duration(min(max(seconds, p.MinTTL), p.MaxTTL)) * time.Second
}

// ServeHTTP answers a request, and says in the header X-Cache whether by the cache.
func (d *distribution) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	d.mu.Lock()
	defer d.mu.Unlock()
	key := d.key(r)
	if a, found := d.cached[key]; found && d.now.Before(a.until) && r.Method == http.MethodGet {
		a.write(w, http.StatusOK, "Hit from cloudfront")
		return
	}
	asked, err := http.NewRequestWithContext(r.Context(), r.Method, d.origin+r.URL.RequestURI(), r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	asked.Header = r.Header.Clone()
	for name, values := range d.own {
		asked.Header[name] = values
	}
	got, err := http.DefaultTransport.RoundTrip(asked)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer got.Body.Close()
	body, err := io.ReadAll(got.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	a := cachedAnswer{got.Header, body, d.now.Add(d.policy.lifetime(got.Header))}
	if r.Method == http.MethodGet && got.StatusCode == http.StatusOK && a.until.After(d.now) {
		d.cached[key] = a
	}
	a.write(w, got.StatusCode, "Miss from cloudfront")
}

func (a cachedAnswer) write(w http.ResponseWriter, status int, cache string) {
	for name, values := range a.header {
		w.Header()[name] = slices.Clone(values)
	}
	w.Header().Set("X-Cache", cache)
	w.WriteHeader(status)
	_, _ = w.Write(a.body) // fails if the client has gone
}

// startFront starts the distribution of the template before the function query, if the template has one. From then on
// c.URL is its URL.
func (c *Cloud) startFront(t template) error {
	distributions, err := resourcesOf[struct {
		DistributionConfig struct {
			Origins []struct {
				OriginCustomHeaders []struct{ HeaderName, HeaderValue string }
			}
			DefaultCacheBehavior struct{ CachePolicyId string }
		}
	}](t, "AWS::CloudFront::Distribution")
	if err != nil {
		return err
	}
	policies, err := resourcesOf[struct{ CachePolicyConfig cachePolicy }](t, "AWS::CloudFront::CachePolicy")
	if err != nil {
		return err
	}
	for name, d := range distributions {
		config := d.DistributionConfig
		p, found := policies[config.DefaultCacheBehavior.CachePolicyId]
		if !found || len(config.Origins) != 1 {
			return fmt.Errorf("distribution %s has no cache policy of the template, or not one origin", name)
		}
		c.front = &distribution{origin: c.URL, own: make(http.Header), policy: p.CachePolicyConfig, cached: make(map[string]cachedAnswer)}
		for _, h := range config.Origins[0].OriginCustomHeaders {
			c.front.own.Set(h.HeaderName, h.HeaderValue)
		}
		if c.URL, err = c.serve(c.front); err != nil {
			return err
		}
	}
	return nil
}
