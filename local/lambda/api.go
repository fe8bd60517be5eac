package lambda

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
)

const runtimeAPI = "/{process}/2018-06-01/runtime/"

// api returns the handler that serves the runtime API to all processes of the function.
func (r *Runtime) api() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+runtimeAPI+"invocation/next", r.with(r.next))
	mux.HandleFunc("POST "+runtimeAPI+"invocation/{id}/response", r.with(r.response))
	mux.HandleFunc("POST "+runtimeAPI+"invocation/{id}/error", r.with(r.failure))
	mux.HandleFunc("POST "+runtimeAPI+"init/error", r.with(r.initFailure))
	return mux
}

// with returns a handler that calls serve with each request and the process that has sent it.
// The first element of the request's path, such as p1, names the process.
func (r *Runtime) with(serve func(http.ResponseWriter, *http.Request, *process)) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		p, ok := r.processes[req.PathValue("process")]
		r.mu.Unlock()
		if !ok {
			http.NotFound(w, req)
			return
		}
		req.Body = http.MaxBytesReader(w, req.Body, maxPayload)
		serve(w, req, p)
	}
}

// next waits until the process is given an invocation, and answers with its event.
func (r *Runtime) next(w http.ResponseWriter, req *http.Request, p *process) {
	select {
	case <-req.Context().Done():
	case call := <-p.work:
		p.begin(call)
		h := w.Header()
		h.Set("Content-Type", "application/json")
		h.Set("Content-Length", strconv.Itoa(len(call.payload)))
		h.Set("Lambda-Runtime-Aws-Request-Id", call.id)
		h.Set("Lambda-Runtime-Deadline-Ms", strconv.FormatInt(call.deadline.UnixMilli(), 10))
		h.Set("Lambda-Runtime-Invoked-Function-Arn", "arn:aws:lambda:local:000000000000:function:"+r.function.Name)
		_, _ = w.Write(call.payload) // fails only when the process has died, which ends the invocation
	}
}

// response reads the response of the process's current invocation, and ends the invocation.
func (r *Runtime) response(w http.ResponseWriter, req *http.Request, p *process) {
	body, err := io.ReadAll(req.Body)
	var outcome result
	switch _, long := errors.AsType[*http.MaxBytesError](err); {
	case long:
		outcome.err = fmt.Errorf("its response is over the limit of %d bytes", maxPayload)
	case err != nil:
		return // the process has died
	default:
		outcome.response = body
	}
	accept(w, p, req.PathValue("id"), outcome)
}

func (r *Runtime) failure(w http.ResponseWriter, req *http.Request, p *process) {
	accept(w, p, req.PathValue("id"), result{err: errors.New(errorMessage(req.Body))})
}

func (r *Runtime) initFailure(w http.ResponseWriter, req *http.Request, p *process) {
	message := errorMessage(req.Body)
	p.mu.Lock()
	p.initError = message
	p.mu.Unlock()
	w.WriteHeader(http.StatusAccepted)
}

// accept ends the current invocation of the process with an outcome. If the process has no
// invocation, or its invocation has another id, accept changes nothing and answers the request
// with an error.
func accept(w http.ResponseWriter, p *process, id string, outcome result) {
	if !p.settle(id, outcome) {
		http.Error(w, fmt.Sprintf("%q is not the current invocation", id), http.StatusBadRequest)
		return
	}
	w.WriteHeader(http.StatusAccepted)
}

// errorMessage returns the message in a request body by which a function reports an error.
func errorMessage(body io.Reader) string {
	var said struct {
		ErrorMessage string `json:"errorMessage"`
		ErrorType    string `json:"errorType"`
	}
	if err := json.NewDecoder(body).Decode(&said); err != nil {
		return fmt.Sprintf("it failed, and its reason cannot be read: %v", err)
	}
	if said.ErrorMessage == "" {
		return "it failed without a message: " + said.ErrorType
	}
	return said.ErrorMessage
}
