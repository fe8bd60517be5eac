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

// durable is a versitygw backend that syncs before it answers, so that a stored object
// survives a power cut. versitygw itself syncs nothing: it writes a file that has no name yet,
// sets its extended attributes, and then links it into its folder. durable adds:
//
//   - The file is synced before it gets its name (see attributes), so that a file with a
//     name is always whole.
//   - Before the answer to a PUT, the file is synced again, because attributes may have been set
//     since. All folders from the file's own to the bucket's are synced, too.
//   - The file and these folders are also synced before the answer that an object exists
//     already: a client that repeats its PUT takes this answer as a sign that the object is stored.
//
// Deleted objects and new buckets are synced in the same way. If two calls delete an object at
// once, one of them gets the answer that there is none; it waits for the sync, too. Other
// operations, which this program does not use, are those of versitygw.
type durable struct {
	*posix.Posix
	dir  string // directory with the buckets
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

// exists reports whether an error means that an object was not stored, because an object
// with its key exists already.
func exists(err error) bool {
	var answer s3err.S3Error
	return errors.As(err, &answer) && answer.StatusCode() == http.StatusPreconditionFailed
}

// isDeleted reports whether an error means that an object was not deleted, because another call
// has deleted it at the same time.
func isDeleted(err error) bool {
	var answer s3err.S3Error
	return errors.As(err, &answer) && answer.BaseError().Code == s3err.GetAPIError(s3err.ErrNoSuchKey).Code
}

// folders returns the paths of the folders above an object, from its own to the bucket's.
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
	if err == nil || isDeleted(err) {
		if err := d.disk.syncAll(d.folders(*in.Bucket, *in.Key)); err != nil {
			return nil, err
		}
	}
	return out, err
}

// CreateBucket implements backend.Backend.
func (d durable) CreateBucket(ctx context.Context, in *s3.CreateBucketInput, acl []byte) error {
	if err := d.Posix.CreateBucket(ctx, in, acl); err != nil {
		return err
	}
	return d.disk.syncAll([]string{filepath.Join(d.dir, *in.Bucket), d.dir})
}

// attributes keeps versitygw's metadata of each file in extended attributes of the file. It also
// syncs new files (see StoreAttribute).
type attributes struct {
	meta.XattrMeta
	disk *disk
}

// etag is the name of the last attribute that versitygw sets on a new file, before it links the
// file into its folder. A conditional PUT treats a file without this attribute as absent.
const etag = "etag"

// StoreAttribute implements meta.MetadataStorer. In addition, it syncs a new file when versitygw
// sets the etag of the file. The etag is the last attribute that is set before the file gets its
// name. So a file with a name is always whole on disk.
func (a attributes) StoreAttribute(file *os.File, bucket, object, attribute string, value []byte) error {
	err := a.XattrMeta.StoreAttribute(file, bucket, object, attribute, value)
	if err != nil || file == nil || attribute != etag {
		return err
	}
	return a.disk.syncFile(file)
}
