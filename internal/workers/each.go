package workers

import (
	"context"
	"sync"
	"sync/atomic"
)

// Each calls do with the numbers from 0 to n-1, in order, from jobs goroutines at
// once. It hands out no more after ctx ended or do returned false, and returns
// when what was handed out is done.
func Each(ctx context.Context, jobs, n int, do func(i int) bool) {
	var next atomic.Int64
	var stop atomic.Bool
	var all sync.WaitGroup
	for range max(1, min(jobs, n)) {
		all.Go(func() {
			for !stop.Load() && ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				if !do(i) {
					stop.Store(true)
				}
			}
		})
	}
	all.Wait()
}
