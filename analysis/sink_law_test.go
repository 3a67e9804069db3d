package analysis

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"servesim/sim/observe"
)

// A sinkUnderTest is a sink and what it makes of its records.
type sinkUnderTest struct {
	observe.Sink
	result func() (string, error)
}

// everySink returns the makers of each kind of sink, by name.
func everySink() map[string]func(io.Writer) (sinkUnderTest, error) {
	summary := func(io.Writer) (sinkUnderTest, error) {
		s := NewSummary(Options{Percentiles: TailPercentiles(), SLO: SLO{Goodput: Goodput{{Objective: TTFT, Max: 4e12}, {Objective: TPOT, Max: 1e11}}}})
		return sinkUnderTest{s, func() (string, error) {
			r := s.Report()
			met := *r.Goodput
			r.Goodput = nil // a pointer, which prints as an address
			return fmt.Sprintf("%+v %+v", met, *r), nil
		}}, nil
	}
	pairing := func(io.Writer) (sinkUnderTest, error) {
		p := &Pairing{}
		return sinkUnderTest{p, func() (string, error) { return fmt.Sprintf("%+v", p.list), p.sort() }}, nil
	}
	writer := func(out io.Writer) (sinkUnderTest, error) {
		var file bytes.Buffer
		w, err := observe.NewWriter(io.MultiWriter(&file, out), observe.Header{})
		return sinkUnderTest{w, func() (string, error) { err := w.Close(); return file.String(), err }}, err
	}
	return map[string]func(io.Writer) (sinkUnderTest, error){
		"summary": summary, "pairing": pairing, "writer": writer,
		"tee": func(out io.Writer) (sinkUnderTest, error) {
			a, errA := summary(out)
			b, errB := pairing(out)
			c, errC := writer(out)
			return sinkUnderTest{observe.Tee{a, b, c}, func() (string, error) {
				x, errX := a.result()
				y, errY := b.result()
				z, errZ := c.result()
				return x + y + z, errors.Join(errX, errY, errZ)
			}}, errors.Join(errA, errB, errC)
		},
	}
}

// poison overwrites a record as an engine that uses it again would.
func poison(r *observe.Request, s *observe.StepRun) {
	for i := range s.Chunks {
		s.Chunks[i] = observe.Chunk{ID: -77, Start: -77, Tokens: -77}
	}
	for i := range s.Gaps {
		s.Gaps[i] = observe.Gaps{Seqs: -77, Steps: -77, First: -77, Inc: -77}
	}
	*r = observe.Request{ID: -77, Name: "poison", Class: "poison", Reason: "poison", Arrival: -77, Output: -77}
	chunks, gaps := s.Chunks, s.Gaps
	*s = observe.StepRun{Replica: -77, Start: -77, Steps: -77, Chunks: chunks[:0], Gaps: gaps[:0]}
}

// Law: a sink keeps nothing of a record and changes nothing in it. One that is
// given the same record again and again, overwritten in between, makes of it
// what one makes that has records of their own.
func TestSinksKeepNothing(t *testing.T) {
	for name, begin := range everySink() {
		t.Run(name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				apart, errA := begin(io.Discard)
				reused, errB := begin(io.Discard)
				if err := errors.Join(errA, errB); err != nil {
					t.Fatal(err)
				}
				var request observe.Request
				var step observe.StepRun
				steps := benchSteps(20)
				for i := range rapid.IntRange(0, 20).Draw(t, "records") {
					r, s := drawRequest(t, int64(i)), &steps[i]
					request = *r
					chunks, gaps := append(step.Chunks[:0], s.Chunks...), append(step.Gaps[:0], s.Gaps...)
					step = *s
					step.Chunks, step.Gaps = chunks, gaps
					if err := errors.Join(reused.Request(&request), reused.Step(&step)); err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(*r, request) + cmp.Diff(*s, step, cmpopts.EquateEmpty()); diff != "" {
						t.Fatalf("the sink changed its record:\n%s", diff)
					}
					poison(&request, &step)
					if err := errors.Join(apart.Request(r), apart.Step(s)); err != nil {
						t.Fatal(err)
					}
				}
				want, errA := apart.result()
				got, errB := reused.result()
				if diff := cmp.Diff(want, got); errA != nil || errB != nil || diff != "" {
					t.Fatalf("%v, %v\n%s", errA, errB, diff)
				}
			})
		})
	}
}

// broken is an io.Writer and a sink that fail.
type broken struct{ err error }

func (b broken) Write([]byte) (int, error)      { return 0, b.err }
func (b broken) Request(*observe.Request) error { return b.err }
func (b broken) Step(*observe.StepRun) error    { return b.err }

// Law: a record that can't be taken is an error, not a loss. A Writer may say so
// as late as at its end.
func TestSinksReturnErrors(t *testing.T) {
	good, step := request(1, [5]int64{1, 1, 1, 1, 1}, 9), benchSteps(1)[0]
	late := *good
	late.Last = late.First - 1
	for name, begin := range everySink() {
		full := errors.New("disk full")
		s, err := begin(broken{full})
		if err == nil {
			err = errors.Join(s.Request(good), s.Step(&step))
		}
		if err == nil {
			_, err = s.result()
		}
		if writes := name == "writer" || name == "tee"; writes != errors.Is(err, full) || !writes && err != nil {
			t.Errorf("%s, whose output can't be written: %v", name, err)
		}
		s, err = begin(io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Request(&late); (err == nil) != (name == "writer") { // which writes what it is given
			t.Errorf("%s, of a request whose last token comes before its first: %v", name, err)
		}
	}
	cause := errors.New("cause")
	for i := range 3 {
		var first, after Pairing
		tee := slices.Insert(observe.Tee{&first, &after}, i, observe.Sink(broken{cause}))
		if errR, errS := tee.Request(good), tee.Step(&step); errR != cause || errS != cause {
			t.Errorf("a tee with a broken sink at %d returns %v and %v", i, errR, errS)
		}
		if taken := len(first.list) + len(after.list); taken != i {
			t.Errorf("%d sinks took the record, want the %d before the broken one", taken, i)
		}
	}
}

// Law: a record costs no allocation, but now and then one for thousands. Package
// observe holds its Writer to that, and TestSummaryAllocatesNothingARecord a Summary.
func TestSinksDoNotAllocate(t *testing.T) {
	r, step := request(1, [5]int64{1, 1, 1, 1, 1}, 9), benchSteps(2)[1]
	for name, s := range map[string]observe.Sink{"pairing": &Pairing{}, "tee": observe.Tee{NewSummary(Options{}), &Pairing{}}} {
		n := testing.AllocsPerRun(20_000, func() {
			if err := errors.Join(s.Request(r), s.Step(&step)); err != nil {
				t.Fatal(err)
			}
		})
		if n != 0 {
			t.Errorf("%s: %v allocations for a request and a step", name, n)
		}
	}
}
