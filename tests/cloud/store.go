package cloud

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/bucketsearch/bucketsearch/layout/blob/s3blob"
	"github.com/bucketsearch/bucketsearch/local/s3"
)

// store stands before the object store: it checks and counts the requests of functions.
type store struct {
	access *access
	meter  *meter
	server *httputil.ReverseProxy // the object store
}

// newStore returns a store before the object store at the endpoint.
func newStore(endpoint string, a *access, m *meter) (*store, error) {
	at, err := url.Parse(endpoint)
	if err != nil {
		return nil, err
	}
	return &store{a, m, &httputil.ReverseProxy{
		// The host stays as the client has signed it.
		Rewrite:   func(p *httputil.ProxyRequest) { p.Out.URL.Scheme, p.Out.URL.Host = at.Scheme, at.Host },
		Transport: &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 64},
	}}, nil
}

// serve answers a request of a role.
func (s *store) serve(role string, w http.ResponseWriter, r *http.Request) {
	action, resource, used := s.judge(r)
	s.meter.add(role, used)
	if !s.access.allows(role, action, resource) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, "<Error><Code>AccessDenied</Code><Message>%s may not %s</Message></Error>", role, action)
		return
	}
	s.server.ServeHTTP(w, r)
}

// judge returns the action and the resource in terms of IAM, and the price class of a request. An unknown kind of
// request has no action, and so is refused.
func (s *store) judge(r *http.Request) (action, resource string, used usage) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	resource = "arn:aws:s3:::" + bucket
	if key == "" {
		if r.Method == http.MethodGet && r.URL.Query().Get("list-type") == "2" {
			return "s3:ListBucket", resource, usage{List: 1}
		}
		return "", resource, usage{}
	}
	resource += "/" + key
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		return "s3:GetObject", resource, usage{Get: 1}
	case http.MethodPut:
		return "s3:PutObject", resource, usage{Put: 1}
	case http.MethodDelete:
		return "s3:DeleteObject", resource, usage{Delete: 1}
	}
	return "", resource, usage{}
}

// startStore starts the object store with the bucket of the template, or with the one that the parameter
// ExistingBucket names, and opens the bucket.
func (c *Cloud) startStore(ctx context.Context, t template, o Options) (*store, error) {
	if err := c.readNotifications(t); err != nil {
		return nil, err
	}
	c.bucket = cmp.Or(o.Parameters["ExistingBucket"], bucketName("Bucket"))
	server, err := s3.Start(ctx, o.Store, s3.Options{
		Dir: filepath.Join(o.Dir, "objects"), Bucket: c.bucket, Listen: "127.0.0.1:0", AccessKey: accessKey, SecretKey: secretKey,
	}, s3.Events{Stored: c.notify})
	if err != nil {
		return nil, err
	}
	c.stop, c.Store = append(c.stop, server.Close), server.Endpoint
	if c.Bucket, err = s3blob.Open(s3blob.Config{Endpoint: server.Endpoint, Bucket: c.bucket, AccessKey: accessKey, SecretKey: secretKey}); err != nil {
		return nil, err
	}
	return newStore(server.Endpoint, c.access, c.meter)
}
