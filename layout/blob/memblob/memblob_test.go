package memblob

import (
	"testing"

	"github.com/bucketsearch/bucketsearch/layout/blob"
	"github.com/bucketsearch/bucketsearch/layout/blob/blobtest"
)

func TestConformance(t *testing.T) {
	blobtest.Run(t, func(*testing.T) blob.Bucket { return New() })
}
