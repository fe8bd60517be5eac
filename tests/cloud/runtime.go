package cloud

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"github.com/bucketsearch/bucketsearch/local/lambda"
)

// functionProperties are the properties of a function in the template.
type functionProperties struct {
	CodeUri             string
	MemorySize, Timeout int
	Environment         struct{ Variables map[string]string }
	Policies            []policy
}

// function is a function of the stack. Its invocations are counted in the meter.
type function struct {
	name    string
	runtime *lambda.Runtime
	memory  float64 // GB
	scratch string  // folder that processes of the function use as /tmp
	meter   *meter
}

// invoke invokes the function with an event, as JSON, and returns its response.
func (f *function) invoke(ctx context.Context, payload []byte) ([]byte, error) {
	began := time.Now()
	response, err := f.runtime.Invoke(ctx, payload)
	billed := math.Ceil(float64(time.Since(began).Microseconds())/1000) / 1000 // whole milliseconds
	f.meter.add(f.name, usage{Invocations: 1, GBSeconds: billed * f.memory})
	return response, err
}

// cool ends all processes of the function and removes their files, so that the next invocation is a cold start.
func (f *function) cool() error {
	f.runtime.KillAll()
	files, err := filepath.Glob(filepath.Join(f.scratch, "*"))
	for _, file := range files {
		err = errors.Join(err, os.RemoveAll(file))
	}
	return err
}

// functionURL is the URL of a function.
type functionURL struct {
	*function
	allowed func() bool // whether anyone may invoke the function by this URL
}

// ServeHTTP invokes the function with a request, and sends its streamed response.
func (f functionURL) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !f.allowed() {
		http.Error(w, `{"Message":"Forbidden"}`, http.StatusForbidden)
		return
	}
	payload, err := urlEvent(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	response, err := f.invoke(r.Context(), payload)
	prelude, body, streamed := bytes.Cut(response, make([]byte, 8)) // eight zeros end the prelude
	var head struct {
		StatusCode int
		Headers    map[string]string
		Cookies    []string
	}
	if err == nil && !streamed {
		err = fmt.Errorf("function %s did not stream its response", f.name)
	}
	if err == nil {
		err = json.Unmarshal(prelude, &head)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	for name, value := range head.Headers {
		w.Header().Set(name, value)
	}
	for _, cookie := range head.Cookies {
		w.Header().Add("Set-Cookie", cookie)
	}
	w.WriteHeader(head.StatusCode)
	_, _ = w.Write(body) // fails if the client has gone
}

// urlEvent returns the event by which a function URL passes a request to its function.
func urlEvent(r *http.Request) ([]byte, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	event := events.LambdaFunctionURLRequest{
		Version: "2.0", RawPath: r.URL.EscapedPath(), RawQueryString: r.URL.RawQuery,
		Headers: make(map[string]string), Body: base64.StdEncoding.EncodeToString(body), IsBase64Encoded: true,
	}
	for name, values := range r.Header {
		event.Headers[strings.ToLower(name)] = strings.Join(values, ",")
	}
	source, _, _ := net.SplitHostPort(r.RemoteAddr)
	event.RequestContext.DomainName = r.Host
	event.RequestContext.HTTP = events.LambdaFunctionURLRequestContextHTTPDescription{
		Method: r.Method, Path: r.URL.Path, Protocol: r.Proto, SourceIP: source, UserAgent: r.UserAgent(),
	}
	return json.Marshal(event)
}
