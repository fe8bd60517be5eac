// Package s3 runs an S3 server, versitygw, on a directory. The server runs in a child process,
// because versitygw changes the working directory of its process, and so that this process goes
// on when the server ends.
//
// The parent process calls Start, and the child process calls Child. They exchange lines of JSON
// over pipes. The first line is from the parent and holds the Options. So the secret in them is not
// visible in the child's arguments or environment. The child answers
//
//	{"ready":"http://127.0.0.1:PORT"}
//
// and then writes a line for every object that is stored and on disk:
//
//	{"key":"spool/0000/00000001-000000000007.spool","size":1234}
//
// The child ends when its standard input ends. So it never outlives its parent, even if the parent
// is killed. If the child ends earlier, the parent starts it again.
//
// Objects are files below Dir/Bucket. A file gets its name when its whole content is on disk, and a
// PUT is answered when the name is on disk, too. So after a kill, no object is incomplete. An object
// whose PUT was answered survives even a power cut.
package s3

// Options are the settings of a server.
type Options struct {
	Dir       string `json:"dir"`    // directory with the buckets; made if it does not exist
	Bucket    string `json:"bucket"` // name of the bucket, which is made if it does not exist
	Listen    string `json:"listen"` // address host:port to listen at; with port 0, a free port is chosen
	AccessKey string `json:"access_key"`
	SecretKey string `json:"secret_key"`
	ReadOnly  bool   `json:"read_only,omitempty"` // true: writes are refused, and neither Dir nor Bucket is made
}

// message is a line of JSON that the child writes to its parent: its endpoint when it is ready,
// or an object that was stored.
type message struct {
	Ready string `json:"ready,omitempty"` // URL of the server, sent when it is ready; empty in other messages
	Key   string `json:"key,omitempty"`   // key of the stored object
	Size  int64  `json:"size,omitempty"`
}
