// Command bucketsearch measures indexing and queries of this project for benchmarks. It has the
// same input and output as the commands of other engines (see tests/peers/corpus):
//
//	bucketsearch index DIRECTORY BYTES < corpus    writes segments of BYTES of text each
//	bucketsearch merge DIRECTORY                   merges all segments into one
//	bucketsearch query DIRECTORY < queries         measures queries with a warm cache
//	bucketsearch cold DIRECTORY < queries          measures queries on a slow store without a cache
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"strconv"
)

func main() {
	var err error
	ctx := context.Background()
	switch args := os.Args[1:]; {
	case len(args) == 3 && args[0] == "index":
		var text int
		if text, err = strconv.Atoi(args[2]); err == nil {
			err = index(args[1], text, os.Stdin)
		}
	case len(args) == 2 && args[0] == "merge":
		err = merge(ctx, args[1])
	case len(args) == 2 && args[0] == "query":
		err = query(ctx, args[1], os.Stdin)
	case len(args) == 2 && args[0] == "cold":
		err = cold(ctx, args[1], os.Stdin)
	default:
		err = fmt.Errorf("usage: %s index|merge|query|cold DIRECTORY", os.Args[0])
	}
	if err != nil {
		log.Fatal(err)
	}
}
