package fetch

import (
	"context"
	"net/netip"
	"sync"
)

// crowds lets so many requests at a time go to one IP address, at which many
// hosts may live. The zero value is ready to use.
type crowds struct {
	mu sync.Mutex
	at map[netip.Addr]*crowd // while somebody is there or waits
}

type crowd struct {
	places chan struct{} // one is put in by whoever has a place
	users  int           // who have a place or wait for one
}

// enter waits for a place at the address, which leave gives back. It fails when
// ctx ends before. Anybody may go to the zero address, of a host whose address
// is not known yet.
func (c *crowds) enter(ctx context.Context, a netip.Addr) (leave func(), err error) {
	if !a.IsValid() {
		return func() {}, nil
	}
	here := c.join(a)
	select {
	case here.places <- struct{}{}:
		return func() {
			<-here.places
			c.part(a)
		}, nil
	case <-ctx.Done():
		c.part(a)
		return nil, context.Cause(ctx)
	}
}

func (c *crowds) join(a netip.Addr) *crowd {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at == nil {
		c.at = make(map[netip.Addr]*crowd)
	}
	here := c.at[a]
	if here == nil {
		here = &crowd{places: make(chan struct{}, maxCrowd)}
		c.at[a] = here
	}
	here.users++
	return here
}

func (c *crowds) part(a netip.Addr) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at[a].users--; c.at[a].users == 0 {
		delete(c.at, a)
	}
}
