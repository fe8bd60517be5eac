// Package s3blob is a bucket in any store that speaks S3 with conditional PUTs
// (If-None-Match: *).
package s3blob

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"github.com/minio/minio-go/v7/pkg/s3utils"

	"github.com/bucketsearch/bucketsearch/layout/blob"
)

// Config describes a bucket of a store, and how to reach it.
type Config struct {
	Endpoint string // URL of the store: http://host:port or https://host
	Bucket   string
	Region   string // region of the bucket; us-east-1 if empty; not used if Endpoint names a region

	// AccessKey, SecretKey and SessionToken are the credentials. If AccessKey is empty,
	// they are those that the AWS tools would find: in the environment, in the shared
	// file, or from the machine's role.
	AccessKey, SecretKey, SessionToken string

	// Stall limits the time in which a request sends and receives no byte. Timeout
	// limits the time of the whole request with its body. A request that exceeds one of
	// these limits fails with blob.ErrRetryable. Zero means 10 s for Stall and 2 min
	// for Timeout.
	Stall, Timeout time.Duration

	// Conn, if not nil, wraps each new connection, for instance to count its bytes.
	Conn func(net.Conn) net.Conn
}

// Bucket is a blob.Bucket in an S3 store. It never repeats a request; use blob.Retry.
type Bucket struct {
	core   *minio.Core
	name   string
	region string
	secure bool
}

// Open returns the bucket. It sends no request, and so does not check that the bucket
// exists; see Ensure.
func Open(c Config) (*Bucket, error) {
	endpoint, err := url.Parse(c.Endpoint)
	if err != nil || endpoint.Host == "" || (endpoint.Scheme != "http" && endpoint.Scheme != "https") ||
		(endpoint.Path != "" && endpoint.Path != "/") {
		return nil, fmt.Errorf("object store %q: want http://host:port or https://host", c.Endpoint)
	}
	if err := s3utils.CheckValidBucketName(c.Bucket); err != nil {
		return nil, fmt.Errorf("bucket %q: %w", c.Bucket, err)
	}
	c.Region = cmp.Or(s3utils.GetRegionFromURL(*endpoint), c.Region, "us-east-1")
	if c.Stall == 0 {
		c.Stall = 10 * time.Second
	}
	if c.Timeout == 0 {
		c.Timeout = 2 * time.Minute
	}
	secure := endpoint.Scheme == "https"
	transport, err := newTransport(secure, c.Stall, c.Timeout, c.Conn)
	if err != nil {
		return nil, fmt.Errorf("object store %s: %w", c.Endpoint, err)
	}
	core, err := minio.NewCore(endpoint.Host, &minio.Options{
		Creds:      c.credentials(),
		Secure:     secure,
		Transport:  transport,
		Region:     c.Region,
		MaxRetries: 1,
	})
	if err != nil {
		return nil, fmt.Errorf("object store %s: %w", c.Endpoint, err)
	}
	core.SetS3EnableDualstack(false) // VPC endpoints do not serve the dual-stack names
	return &Bucket{core, c.Bucket, c.Region, secure}, nil
}

// credentials returns c's credentials; if c has none, those that the AWS tools would find
// (see AccessKey).
func (c Config) credentials() *credentials.Credentials {
	if c.AccessKey != "" {
		return credentials.NewStaticV4(c.AccessKey, c.SecretKey, c.SessionToken)
	}
	return credentials.NewChainCredentials([]credentials.Provider{
		&credentials.EnvAWS{},
		&credentials.FileAWSCredentials{},
		&credentials.IAM{},
	})
}

// Ensure creates the bucket if it is absent.
func (b *Bucket) Ensure(ctx context.Context) error {
	exists, err := b.core.BucketExists(ctx, b.name)
	if err != nil {
		return b.fail(ctx, "find", "", err)
	}
	if exists {
		return nil
	}
	err = b.core.MakeBucket(ctx, b.name, minio.MakeBucketOptions{Region: b.region})
	if err != nil && minio.ToErrorResponse(err).Code != minio.BucketAlreadyOwnedByYou {
		return b.fail(ctx, "create", "", err)
	}
	return nil
}

func (b *Bucket) Get(ctx context.Context, key string, r blob.Range) ([]byte, error) {
	options, err := rangeOptions(r)
	if err != nil {
		return nil, fmt.Errorf("cannot get %s: %w", key, err)
	}
	body, info, header, err := b.core.GetObject(ctx, b.name, key, options)
	if err != nil {
		return nil, b.fail(ctx, "get", key, err)
	}
	defer body.Close()
	if info.Size < 0 || (r.Length > 0 && info.Size > r.Length) {
		return nil, fmt.Errorf("cannot get %s: asked for %d bytes from %d, but the store announces %d", key, r.Length, r.Offset, info.Size)
	}
	if info.Size == 0 {
		if err := b.empty(ctx, "get", key, info); err != nil {
			return nil, err
		}
		if r != (blob.Range{}) { // some stores answer 200, not 416, for a suffix of an empty object
			return nil, fmt.Errorf("cannot get %s: %w", key, blob.ErrRange)
		}
	}
	if err := checkRange(r, info.Size, header.Get("Content-Range")); err != nil {
		return nil, b.damaged("get", key, err.Error())
	}
	content := make([]byte, info.Size)
	if _, err := io.ReadFull(body, content); err != nil {
		return nil, b.fail(ctx, "get", key, fmt.Errorf("body of %d bytes: %w", info.Size, err))
	}
	return content, nil
}

// rangeOptions returns the options of a GET for a range. In S3 a range includes its
// last byte.
func rangeOptions(r blob.Range) (options minio.GetObjectOptions, err error) {
	if err := r.Check(); err != nil {
		return options, err
	}
	switch {
	case r == blob.Range{}:
		return options, nil
	case r.Offset < 0:
		return options, options.SetRange(0, r.Offset)
	case r.Length == 0:
		return options, options.SetRange(r.Offset, 0)
	case r.Length == 1 && r.Offset == 0:
		options.Set("Range", "bytes=0-0")
		return options, nil
	}
	last := r.Offset + min(r.Length-1, math.MaxInt64-r.Offset)
	return options, options.SetRange(r.Offset, last)
}

// Head returns the size of an object. If the answer is 404, it sends a GET, too: only the
// answer to a GET says whether the object, the bucket or the account is absent.
func (b *Bucket) Head(ctx context.Context, key string) (int64, error) {
	info, err := b.core.StatObject(ctx, b.name, key, minio.StatObjectOptions{})
	if err == nil {
		if info.Size == 0 {
			err = b.empty(ctx, "head", key, info)
		}
		return info.Size, err
	}
	if minio.ToErrorResponse(err).StatusCode == http.StatusNotFound {
		// The body of the answer says what is absent. The answer to a HEAD has no body.
		if _, errGet := b.Get(ctx, key, blob.Range{Length: 1}); errGet != nil && !errors.Is(errGet, blob.ErrRange) {
			return 0, errGet
		}
	}
	return 0, b.fail(ctx, "head", key, err)
}

func (b *Bucket) List(ctx context.Context, prefix, startAfter string) iter.Seq2[blob.Object, error] {
	return func(yield func(blob.Object, error) bool) {
		owner := false
		options := minio.ListObjectsOptions{Prefix: prefix, StartAfter: startAfter, Recursive: true, FetchOwner: &owner}
		for info := range b.core.ListObjectsIter(ctx, b.name, options) {
			if info.Err != nil {
				yield(blob.Object{}, b.fail(ctx, "list", prefix, info.Err))
				return
			}
			if !yield(blob.Object{Key: info.Key, Size: info.Size, Modified: info.LastModified}, nil) {
				return
			}
		}
		if ctx.Err() != nil { // minio-go ends the listing without an error
			yield(blob.Object{}, b.fail(ctx, "list", prefix, ctx.Err()))
		}
	}
}

func (b *Bucket) Create(ctx context.Context, key string, content []byte) error {
	options := b.putOptions()
	options.SetMatchETagExcept("*")
	return b.put(ctx, "create", key, content, options)
}

func (b *Bucket) Replace(ctx context.Context, key string, content []byte) error {
	return b.put(ctx, "replace", key, content, b.putOptions())
}

// putOptions returns the options of a PUT. Over plain HTTP the chunked signature is
// off: not every store understands it, and it hashes every byte twice.
func (b *Bucket) putOptions() minio.PutObjectOptions {
	return minio.PutObjectOptions{DisableMultipart: true, DisableContentSha256: !b.secure}
}

// put stores an object by one PUT. It uses minio-go's Core.PutObject, which never divides
// an object into several uploads: these would lose the condition If-None-Match of Create.
func (b *Bucket) put(ctx context.Context, op, key string, content []byte, options minio.PutObjectOptions) error {
	stored, err := b.core.PutObject(ctx, b.name, key, bytes.NewReader(content), int64(len(content)), "", "", options)
	if err != nil {
		return b.fail(ctx, op, key, err)
	}
	if stored.ETag == "" { // every store returns one
		return b.damaged(op, key, "it names no ETag of what it has stored")
	}
	return nil
}

func (b *Bucket) Delete(ctx context.Context, key string) error {
	err := b.core.RemoveObject(ctx, b.name, key, minio.RemoveObjectOptions{})
	if err != nil && minio.ToErrorResponse(err).Code != minio.NoSuchKey {
		return b.fail(ctx, "delete", key, err)
	}
	return nil
}
