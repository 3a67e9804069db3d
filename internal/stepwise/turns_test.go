package stepwise

import (
	"io"
	"testing"

	"pgregory.net/rapid"

	"servesim/sim"
	"servesim/sim/engine"
	"servesim/sim/observe"
	"servesim/sim/scheduler"
	"servesim/sim/workload"
)

// turns is a closed loop of conversations: request i is of user i mod users, and
// waits for the one before it of that user.
type turns struct {
	list
	users int
	think sim.Duration
}

func (s *turns) Next() (workload.Request, error) {
	if s.next == min(s.users, len(s.requests)) {
		return workload.Request{}, io.EOF
	}
	s.next++
	r := s.requests[s.next-1]
	r.Arrival = 0
	return r, nil
}

func (s *turns) Done(id int64, t sim.Time) (workload.Request, bool) {
	next := int(id) + s.users
	if next >= len(s.requests) {
		return workload.Request{}, false
	}
	r := s.requests[next]
	r.Arrival = t.Add(s.think)
	return r, true
}

// anyTurns draws conversations whose prompts mostly grow by what was said before.
func anyTurns(t *rapid.T) func() workload.Source {
	requests, users := anyRequests(t), rapid.IntRange(1, 5).Draw(t, "users")
	for i := range requests {
		r := &requests[i]
		r.Blocks, r.Session = nil, int64(i%users)+1
		if i >= users {
			before := &requests[i-users]
			r.Prompt = min(100, (before.Prompt+before.Output)*rapid.Int32Range(0, 1).Draw(t, "goes on")+r.Prompt/4+1)
		}
	}
	think := sim.Duration(rapid.SampledFrom([]int64{0, 0, 5, 100}).Draw(t, "think"))
	declared := workload.Prefixes{Sessions: true, SystemTokens: rapid.SampledFrom([]int32{0, 7, 20}).Draw(t, "system tokens"),
		SystemPrompts: rapid.Int64Range(1, 2).Draw(t, "system prompts")}
	return func() workload.Source {
		return workload.SharePrefixes(&turns{list{requests: requests}, users, think}, declared, 1)
	}
}

// TestEnginesAgreeOnTurns is TestEnginesAgree for conversations, whose prompts find
// the answers before them in the cache.
func TestEnginesAgreeOnTurns(t *testing.T) {
	cached := int64(0)
	rapid.Check(t, func(t *rapid.T) {
		newConfig, source := anyConfig(t), anyTurns(t)
		got, diff := compare(func() engine.Config {
			c := newConfig()
			caches := c.Scheduler.Policy == scheduler.VLLMV1 || c.Scheduler.Policy == scheduler.SGLang
			if c.Scheduler.EnablePrefixCaching = caches; caches {
				c.Scheduler.NumGPUBlocks += 60
				c.Scheduler.IgnoreEOS = false
			}
			c.Source = source()
			return c
		})
		if diff != "" {
			t.Fatal(diff)
		}
		for i := range got.Requests {
			if r := &got.Requests[i]; r.Outcome == observe.Completed {
				cached += int64(r.Cached)
				completedLaws(t, newConfig(), r)
			}
		}
	})
	if cached == 0 {
		t.Error("nothing was ever found in the cache")
	}
}
