// Package s3 runs an S3 server on a directory: versitygw, in a process of its own, because
// it changes the working directory of its process, and because a server must be able to
// die without its users.
//
// The parent calls Start, and the subprocess Child. They talk over pipes, in
// lines of JSON: the parent first writes its Options, so that secrets are
// neither arguments nor environment; the child answers
//
//	{"ready":"http://127.0.0.1:PORT"}
//
// and then writes a line for every stored object, after the commit:
//
//	{"key":"spool/0000/00000001-000000000007.spool","size":1234}
//
// The child ends when its standard input ends, and so never outlives a parent, however the
// parent died; if it ends earlier, it is started again. Objects are files below
// Dir/Bucket. A file gets its name when it is whole and on disk, and the request is
// answered when the name is on disk too. So every object survives a kill, and every
// answered one a power cut.
package s3

// Options are the settings of a server.
type Options struct {
	Dir       string `json:"dir"`    // holds the buckets; created if absent
	Bucket    string `json:"bucket"` // created if absent
	Listen    string `json:"listen"` // host:port; port 0 takes a free one
	AccessKey string `json:"access_key"`
	SecretKey string `json:"secret_key"`
	ReadOnly  bool   `json:"read_only,omitempty"` // writes are refused, and nothing is made
}

// message is one line that the child writes.
type message struct {
	Ready string `json:"ready,omitempty"` // the endpoint, once it is served
	Key   string `json:"key,omitempty"`   // of an object that was stored
	Size  int64  `json:"size,omitempty"`
}
