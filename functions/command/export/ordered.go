package export

import "iter"

// inOrder calls the function work with every item, and yields the results in the order of the
// items. It makes atOnce calls at the same time, and holds at most atOnce + 1 results in memory.
func inOrder[T, R any](items iter.Seq[T], atOnce int, work func(T) R) iter.Seq[R] {
	return func(yield func(R) bool) {
		queue := make(chan chan R, atOnce-1)
		stop := make(chan struct{})
		go func() {
			defer close(queue)
			for item := range items {
				result := make(chan R, 1)
				select {
				case queue <- result:
				case <-stop:
					return
				}
				go func() { result <- work(item) }()
			}
		}()
		defer func() { // all goroutines have ended when it returns
			close(stop)
			for result := range queue {
				<-result
			}
		}()
		for result := range queue {
			if !yield(<-result) {
				return
			}
		}
	}
}
