package s3

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"

	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/versity/versitygw/backend/meta"
	"github.com/versity/versitygw/backend/posix"
	"github.com/versity/versitygw/s3err"
	"github.com/versity/versitygw/s3response"
)

// durable is a backend whose answers survive a power cut. versitygw syncs nothing: it
// writes a file without a name and its extended attributes, then links the file into its
// folder, which it makes. So
//
//   - the file is synced before it has a name (see attributes): a file with a name is
//     whole, answered or not;
//   - before the answer, the file (for attributes that were set later) and all folders
//     from its own to the bucket's are synced, in rounds that many answers share;
//   - "exists" is an answer too: it tells a client that tries again that the object is
//     stored.
//
// The same holds for deletions and for buckets. Other operations are not used here, and
// are answered as versitygw does.
type durable struct {
	*posix.Posix
	dir  string // that holds the buckets
	disk *disk
}

// PutObject implements backend.Backend.
func (d durable) PutObject(ctx context.Context, in s3response.PutObjectInput) (s3response.PutObjectOutput, error) {
	out, err := d.Posix.PutObject(ctx, in)
	if err == nil || exists(err) {
		file := filepath.Join(d.dir, *in.Bucket, *in.Key)
		if err := d.disk.syncAll(append(d.folders(*in.Bucket, *in.Key), file)); err != nil {
			return s3response.PutObjectOutput{}, err
		}
	}
	return out, err
}

// exists reports whether an object was not stored because one exists.
func exists(err error) bool {
	var answer s3err.S3Error
	return errors.As(err, &answer) && answer.StatusCode() == http.StatusPreconditionFailed
}

// folders returns the folders above an object, the bucket's last.
func (d durable) folders(bucket, key string) (folders []string) {
	root := filepath.Join(d.dir, bucket)
	for at := filepath.Dir(filepath.Join(root, key)); len(at) > len(root); at = filepath.Dir(at) {
		folders = append(folders, at)
	}
	return append(folders, root)
}

// DeleteObject implements backend.Backend.
func (d durable) DeleteObject(ctx context.Context, in *s3.DeleteObjectInput) (*s3.DeleteObjectOutput, error) {
	out, err := d.Posix.DeleteObject(ctx, in)
	if err != nil {
		return out, err
	}
	return out, d.disk.syncAll(d.folders(*in.Bucket, *in.Key))
}

// CreateBucket implements backend.Backend.
func (d durable) CreateBucket(ctx context.Context, in *s3.CreateBucketInput, acl []byte) error {
	if err := d.Posix.CreateBucket(ctx, in, acl); err != nil {
		return err
	}
	return d.disk.syncAll([]string{filepath.Join(d.dir, *in.Bucket), d.dir})
}

// attributes are versitygw's attributes of a file.
type attributes struct {
	meta.XattrMeta
	disk *disk
}

// etag is the attribute that versitygw sets last: for a conditional PUT, an object
// without it does not exist.
const etag = "etag"

// StoreAttribute implements meta.MetadataStorer. With the etag it syncs a file that has
// no name yet.
func (a attributes) StoreAttribute(file *os.File, bucket, object, attribute string, value []byte) error {
	err := a.XattrMeta.StoreAttribute(file, bucket, object, attribute, value)
	if err != nil || file == nil || attribute != etag {
		return err
	}
	return a.disk.syncFile(file)
}
