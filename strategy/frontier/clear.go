package frontier

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"
)

// againLetter stands for the queue "again" of a host, which is its last one, in the hash filled.
const againLetter = 'q'

// clear deletes the queues of former generations, which no script uses any more. Reset has put these generations
// into the list old: each entry has the name of a generation, and the key that has the hosts of its queues. If
// clear is cut short, the next call goes on at the same place.
func (f *Frontier) clear(ctx context.Context) error {
	for {
		entry, err := f.rdb.LIndex(ctx, f.key("old"), 0).Result()
		if err == redis.Nil {
			return nil
		}
		if err != nil {
			return err
		}
		generation, name, found := strings.Cut(entry, ":")
		if !found {
			return fmt.Errorf("old queues %q: want a generation and the name of a key", entry)
		}
		if err := f.clearOld(ctx, generation, name); err != nil {
			return err
		}
		if err := f.rdb.LRem(ctx, f.key("old"), 1, entry).Err(); err != nil {
			return err
		}
	}
}

// clearOld deletes the queues of one former generation, and then the key that has their hosts. Usually this key is
// the former hash filled, which also has the letters of the queues that each host has. If the key has only the
// hosts, clearOld deletes each queue that a host may have.
func (f *Frontier) clearOld(ctx context.Context, generation, name string) error {
	key := f.key("old:" + generation + ":" + name)
	isSet := strings.HasPrefix(name, "hosts")
	for {
		var page []string
		var err error
		if isSet {
			page, _, err = f.rdb.ZScan(ctx, key, 0, "", chunk).Result()
		} else {
			page, _, err = f.rdb.HScan(ctx, key, 0, "", chunk).Result()
		}
		if err != nil || len(page) == 0 {
			return err
		}
		for some := range slices.Chunk(page, 2*chunk) {
			var queues, hosts []string
			for i := 0; i+1 < len(some); i += 2 {
				letters := some[i+1]
				if name != "filled" {
					letters = "abcdefghijklmnopq"
				}
				hosts = append(hosts, some[i])
				queues = append(queues, f.queuesOf(generation, some[i], letters)...)
			}
			_, err := f.rdb.Pipelined(ctx, func(p redis.Pipeliner) error {
				for part := range slices.Chunk(queues, chunk) {
					p.Unlink(ctx, part...)
				}
				if isSet {
					p.ZRem(ctx, key, hosts)
				} else {
					p.HDel(ctx, key, hosts...)
				}
				return nil
			})
			if err != nil {
				return err
			}
		}
	}
}

// queuesOf returns the keys of a host's queues, given the letters that stand for them in the hash filled.
func (f *Frontier) queuesOf(generation, host, letters string) (keys []string) {
	for _, letter := range strings.ToLower(letters) {
		band := strconv.Itoa(int(letter - 'a'))
		if letter == againLetter {
			band = "again"
		}
		keys = append(keys, f.key("q"+generation+":"+band+":"+host))
	}
	return keys
}
