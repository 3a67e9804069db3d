package observe_test

import (
	"errors"
	"testing"

	"servesim/sim/observe"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// kept keeps copies of records, in order, and fails at record number fail, from 1.
type kept struct {
	all  []any
	fail int
}

var errKept = errors.New("full")

func (k *kept) Request(r *observe.Request) error {
	c := *r
	c.Made, c.Lost = append([]observe.Span(nil), r.Made...), append([]int64(nil), r.Lost...)
	c.Attempts = append([]observe.Attempt(nil), r.Attempts...)
	return k.keep(c)
}

func (k *kept) Step(r *observe.StepRun) error {
	c := *r
	c.Chunks, c.Gaps = append([]observe.Chunk(nil), r.Chunks...), append([]observe.Gaps(nil), r.Gaps...)
	return k.keep(c)
}

func (k *kept) keep(record any) error {
	if k.all = append(k.all, record); len(k.all) == k.fail {
		return errKept
	}
	return nil
}

// Law: a sink beside a run gets the records that it would get within, in their order,
// whatever becomes of them after, up to its first error, which is told once.
func TestBesideIsWithin(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 2000).Draw(t, "records")
		fail := rapid.OneOf(rapid.Just(0), rapid.IntRange(1, 2000)).Draw(t, "fails at")
		stepsIn := rapid.IntRange(0, 10).Draw(t, "steps in ten")
		within, apart := &kept{fail: fail}, &kept{fail: fail}
		beside := observe.NewBeside(apart)
		var errWithin error
		var errs []error
		var request observe.Request
		var step observe.StepRun
		for i := range int64(n) {
			give := func(to observe.Sink) error { return to.Request(&request) }
			if int(i*7%10) < stepsIn {
				step = observe.StepRun{Serial: i, Steps: 1, Chunks: step.Chunks[:0], Gaps: step.Gaps[:0]}
				for k := range i % 4 {
					step.Chunks = append(step.Chunks, observe.Chunk{ID: i, Start: int32(k)})
					step.Gaps = append(step.Gaps, observe.Gaps{Seqs: int32(i), Steps: k})
				}
				give = func(to observe.Sink) error { return to.Step(&step) }
			} else {
				request = observe.Request{ID: i, Name: "a", Made: request.Made[:0], Lost: request.Lost[:0], Attempts: request.Attempts[:0]}
				for k := range i % 3 {
					request.Made = append(request.Made, observe.Span{Step: i, Steps: k})
					request.Lost = append(request.Lost, i+k)
					request.Attempts = append(request.Attempts, observe.Attempt{Replica: int32(i)})
				}
			}
			if errWithin == nil {
				errWithin = give(within)
			}
			if err := give(beside); err != nil {
				errs = append(errs, err)
				break
			}
		}
		if err := beside.Close(); err != nil {
			errs = append(errs, err)
		}
		if diff := cmp.Diff(within.all, apart.all, cmpopts.EquateEmpty()); diff != "" {
			t.Fatal(diff)
		}
		if told := len(errs) == 1 && errors.Is(errs[0], errKept); told != (errWithin != nil) || len(errs) > 1 {
			t.Fatalf("within %v, beside %v", errWithin, errs)
		}
	})
}
