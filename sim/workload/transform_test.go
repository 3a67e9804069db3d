package workload

import (
	"bytes"
	"errors"
	"io"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"servesim/internal/exact"
	"servesim/sim"
)

// list is a Source of given requests, which it numbers. It reuses its block
// buffer, as the contract of Source allows, and counts its closings.
type list struct {
	all    []Request
	n      int
	blocks []uint64
	closed *int
}

func (l *list) Next() (Request, error) {
	for i := range l.blocks {
		l.blocks[i] = math.MaxUint64 // whoever kept them sees nonsense
	}
	if l.n == len(l.all) {
		return Request{}, io.EOF
	}
	r := l.all[l.n]
	r.ID = int64(l.n)
	l.n++
	l.blocks = append(l.blocks[:0], r.Blocks...)
	if r.Blocks != nil {
		r.Blocks = l.blocks
	}
	return r, nil
}

func (l *list) Close() error {
	if l.closed != nil {
		*l.closed++
	}
	return nil
}

// must returns the requests of a transform, whose errors end the test.
func must(t interface{ Fatal(...any) }, src Source, err error) []Request {
	if err != nil {
		t.Fatal(err)
	}
	all, err := drain(src)
	if err != nil {
		t.Fatal(err)
	}
	if fault := contract(all); fault != "" {
		t.Fatal(fault)
	}
	return all
}

// countOf returns a count of src by its name.
func countOf(t interface{ Fatal(...any) }, src Source, what string) int64 {
	for _, c := range CountsOf(src) {
		if c.What == what {
			return c.N
		}
	}
	t.Fatal("no count of ", what)
	return 0
}

// numbered sets the ids of all from 0.
func numbered(all []Request) []Request {
	for i := range all {
		all[i].ID = int64(i)
	}
	return all
}

func TestWindowAndLimitLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := drawRequests(t, 12)
		from := sim.Time(rapid.Int64Range(0, int64(6*sim.Hour)).Draw(t, "from"))
		to := from.Add(sim.Duration(rapid.Int64Range(1, int64(6*sim.Hour)).Draw(t, "length")))
		var want []Request
		for _, r := range all {
			if r.Arrival >= from && r.Arrival < to {
				r.Arrival -= from
				want = append(want, r)
			}
		}
		src, err := Window(&list{all: all}, from, to)
		if diff := cmp.Diff(numbered(want), must(t, src, err)); diff != "" {
			t.Error(diff)
		}
		read := countOf(t, src, "window: requests kept") + countOf(t, src, "window: requests before it") +
			countOf(t, src, "window: requests read after it, where reading stops")
		if passed := slices.IndexFunc(all, func(r Request) bool { return r.Arrival >= to }); passed >= 0 && read != int64(passed+1) ||
			passed < 0 && read != int64(len(all)) {
			t.Errorf("%d requests are accounted for", read)
		}
		n := rapid.IntRange(1, 15).Draw(t, "n")
		src, err = Limit(&list{all: all}, int64(n))
		if diff := cmp.Diff(all[:min(n, len(all))], must(t, src, err)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestWindowIsHalfOpen(t *testing.T) {
	src, err := Window(&list{all: steady(5)}, sim.Time(sim.Second), sim.Time(3*sim.Second))
	var got []sim.Time
	for _, r := range must(t, src, err) {
		got = append(got, r.Arrival)
	}
	if want := []sim.Time{0, sim.Time(sim.Second)}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestStretchIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := sim.Time(rapid.Int64Range(0, math.MaxInt64).Draw(t, "at"))
		factor := rapid.OneOf(rapid.Float64Range(math.SmallestNonzeroFloat64, 4), rapid.Float64Range(0.5, 1e9),
			rapid.SampledFrom([]float64{0.5, 1, 2, 1.0 / 3, 1e300, 0x1p-65, 0x1p-66, 0x1p-116})).Draw(t, "factor")
		product := new(big.Rat).SetFloat64(factor)
		want := exact.Round(product.Mul(product, new(big.Rat).SetInt64(int64(at))))
		got, ok := scaleTime(at, factor)
		if ok != want.IsInt64() || ok && int64(got) != want.Int64() {
			t.Errorf("%d times %v is %d %v, want %v", at, factor, got, ok, want)
		}
	})
}

func TestStretchByHand(t *testing.T) {
	src, err := Stretch(&list{all: []Request{{Prompt: 1, Output: 1}, {Arrival: 3, Prompt: 1, Output: 1, Cancel: 7}, {Arrival: 5, Prompt: 1, Output: 1}}}, 1.5)
	want := []Request{{ID: 0, Prompt: 1, Output: 1}, {ID: 1, Arrival: 4, Prompt: 1, Output: 1, Cancel: 7}, {ID: 2, Arrival: 8, Prompt: 1, Output: 1}}
	if diff := cmp.Diff(want, must(t, src, err)); diff != "" { // 4.5 and 7.5 go to the even neighbour
		t.Error(diff)
	}
	for factor, want := range map[float64]sim.Time{0x1.8p-62: 2, 0x1.4p-61: 2, 0x1.cp-61: 4, 0x1p-63: 0, 0x1.8p-63: 1} { // 1.5, 2.5, 3.5, 0.5, 0.75
		if got, ok := scaleTime(1<<62, factor); !ok || got != want {
			t.Errorf("2^62 times %v is %d, want %d", factor, got, want)
		}
	}
	src, err = Stretch(&list{all: []Request{{Arrival: sim.MaxTime, Prompt: 1, Output: 1}}}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := src.Next(); err == nil || err == io.EOF {
		t.Errorf("an arrival out of range gives %v", err)
	}
}

func TestClipLaws(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := drawRequests(t, 8)
		caps := Caps{
			Prompt: rapid.Int32Range(1, 100_000).Draw(t, "prompt"),
			Output: rapid.Int32Range(0, 5000).Draw(t, "output"),
			Total:  rapid.Int32Range(0, 105_000).Draw(t, "total") &^ 1,
		}
		src, err := Clip(&list{all: all}, caps)
		got := must(t, src, err)
		var prompts, promptTokens, outputs, outputTokens, full int64
		for i, r := range got {
			was := all[i]
			if r.Prompt > caps.Prompt || caps.Output > 0 && r.Output > caps.Output || caps.Total > 0 && r.Prompt+r.Output > caps.Total {
				t.Errorf("%+v is over %+v", r, caps)
			}
			if caps.Total > 0 && r.Prompt < min(was.Prompt, caps.Prompt) && r.Output != 1 {
				t.Errorf("the prompt is cut before the output: %+v", r)
			}
			if caps.Total > 0 && min(was.Prompt, caps.Prompt) >= caps.Total {
				full++
			}
			if cut := was.Prompt - r.Prompt; cut > 0 {
				prompts, promptTokens = prompts+1, promptTokens+int64(cut)
			}
			if cut := was.Output - r.Output; cut > 0 {
				outputs, outputTokens = outputs+1, outputTokens+int64(cut)
			}
			if !slices.Equal(r.Blocks, was.Blocks[:len(r.Blocks)]) {
				t.Errorf("blocks %v of %v", r.Blocks, was.Blocks)
			}
		}
		want := []Count{{"clip: prompts cut", prompts}, {"clip: prompt tokens cut off", promptTokens},
			{"clip: outputs cut", outputs}, {"clip: output tokens cut off", outputTokens},
			{"clip: requests whose prompt filled the total, left with 1 output token", full}}
		if diff := cmp.Diff(want, CountsOf(src)); diff != "" {
			t.Error(diff)
		}
	})
}

func TestScaleLengths(t *testing.T) {
	src, err := ScaleLengths(&list{all: []Request{{Prompt: 3, Output: 1}, {Prompt: 1, Output: 5}}}, 0.5, 0.1)
	want := []Request{{ID: 0, Prompt: 2, Output: 1}, {ID: 1, Prompt: 1, Output: 1}} // 1.5, 0.1; 0.5, 0.5
	if diff := cmp.Diff(want, must(t, src, err)); diff != "" {
		t.Error(diff)
	}
	if n := countOf(t, src, "scale lengths: lengths raised from 0 to 1 token"); n != 3 {
		t.Errorf("%d lengths raised, want 3", n)
	}
	rapid.Check(t, func(t *rapid.T) {
		all := drawRequests(t, 5)
		f, g := rapid.Float64Range(0.001, 100).Draw(t, "f"), rapid.Float64Range(0.001, 100).Draw(t, "g")
		src, err := ScaleLengths(&list{all: all}, f, g)
		for i, r := range must(t, src, err) {
			for _, l := range [][2]float64{{float64(r.Prompt), float64(all[i].Prompt) * f}, {float64(r.Output), float64(all[i].Output) * g}} {
				if math.Abs(l[0]-l[1]) > 0.5 && l[0] != 1 {
					t.Errorf("%v tokens, want %v", l[0], l[1])
				}
			}
		}
	})
	src, err = ScaleLengths(&list{all: []Request{{Prompt: math.MaxInt32, Output: 1}}}, 2, 1)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := src.Next(); err == nil || err == io.EOF {
		t.Errorf("a length out of range gives %v", err)
	}
}

// loop is a closed loop of which every request releases the same one.
type loop struct{ list }

func (*loop) Done(int64, sim.Time) (Request, bool) {
	return Request{ID: 9, Prompt: 100, Output: 100}, true
}

func TestReactiveSources(t *testing.T) {
	closed := &loop{list{all: []Request{{Prompt: 100, Output: 100}}}}
	open := func() (Source, error) { return closed, nil }
	for name, make := range map[string]func() (Source, error){
		"window":  func() (Source, error) { return Window(closed, 0, 1) },
		"limit":   func() (Source, error) { return Limit(closed, 1) },
		"thin":    func() (Source, error) { return Thin(closed, 0.5, 1) },
		"rate":    func() (Source, error) { return Rate(open, 0.5, 1) },
		"rate 2":  func() (Source, error) { return Rate(open, 2, 1) },
		"stretch": func() (Source, error) { return Stretch(closed, 2) },
		"scale":   func() (Source, error) { return ScaleLengths(closed, 2, 2) },
		"merge":   func() (Source, error) { return Merge(&list{}, closed) },
		"split":   func() (Source, error) { return Split(closed, 0.5, 1, First) },
	} {
		if _, err := make(); !errors.Is(err, ErrNoReactive) {
			t.Errorf("%s: %v", name, err)
		}
	}
	clipped, err := Clip(closed, Caps{Total: 30})
	if err != nil {
		t.Fatal(err)
	}
	src, ok := Label(clipped, "loop").(Reactive)
	if !ok {
		t.Fatal("a labelled loop is no longer a loop")
	}
	want := Request{Prompt: 29, Output: 1, Class: "loop"}
	if got, err := src.Next(); err != nil || cmp.Diff(want, got) != "" {
		t.Errorf("%v %v", got, err)
	}
	want.ID = 9
	if got, ok := src.Done(0, 0); !ok || cmp.Diff(want, got) != "" {
		t.Errorf("%v %v", got, ok)
	}
	if n := countOf(t, src, "clip: prompt tokens cut off"); n != 142 {
		t.Errorf("%d tokens cut, want 142", n)
	}
}

// Whoever opened a source must close it where it is refused.
func TestRateClosesWhatItRefuses(t *testing.T) {
	for _, multiplier := range []float64{0.5, 1, 2} {
		opened, closed := 0, 0
		src, err := Rate(func() (Source, error) {
			opened++
			return &loop{list{closed: &closed}}, nil
		}, multiplier, 1)
		if src != nil || !errors.Is(err, ErrNoReactive) || opened != closed {
			t.Errorf("at %v: %v, opened %d times and closed %d times", multiplier, err, opened, closed)
		}
	}
}

func TestTransformFaults(t *testing.T) {
	one := &list{all: []Request{{Prompt: 1, Output: 1}}}
	open := func() (Source, error) { return one, nil }
	broken := errors.New("broken")
	failing := func() (Source, error) { return nil, broken }
	for want, make := range map[string]func() (Source, error){
		"window: found 5ps to 5ps, want an end after a begin of 0s or later":                            func() (Source, error) { return Window(one, 5, 5) },
		"limit: found 0, want 1 or more":                                                                func() (Source, error) { return Limit(one, 0) },
		"thin: found the fraction NaN, want more than 0 and at most 1":                                  func() (Source, error) { return Thin(one, math.NaN(), 1) },
		"split: found the fraction 1, want more than 0 and less than 1":                                 func() (Source, error) { return Split(one, 1, 1, First) },
		"rate: found the multiplier 0, want more than 0 and at most 256":                                func() (Source, error) { return Rate(open, 0, 1) },
		"rate: found the multiplier +Inf, want more than 0 and at most 256":                             func() (Source, error) { return Rate(open, math.Inf(1), 1) },
		"stretch: found the factor -1, want a finite number above 0":                                    func() (Source, error) { return Stretch(one, -1) },
		"scale lengths: found the factor 0, want a finite number above 0":                               func() (Source, error) { return ScaleLengths(one, 1, 0) },
		"clip: no limit, want at least one of prompt, output and total":                                 func() (Source, error) { return Clip(one, Caps{}) },
		"clip: found the limits prompt 0, output 0 and total 1, want 1 or more tokens, 2 for the total": func() (Source, error) { return Clip(one, Caps{Total: 1}) },
		"merge: no source": func() (Source, error) { return Merge() },
		"broken":           func() (Source, error) { return Rate(failing, 2, 1) },
		"standard input: found a stream, want a file, because it is read more than once; write it to a file first": func() (Source, error) {
			open, err := Reopen("-", Options{})
			if err != nil {
				return nil, err
			}
			return open()
		},
	} {
		if src, err := make(); err == nil || err.Error() != want || src != nil {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// What a transform chain says it did adds up from the trace to the last stage.
func TestCountsOfChain(t *testing.T) {
	tr, err := Read(bytes.NewReader([]byte(threeRows)), "t.csv", Options{})
	if err != nil {
		t.Fatal(err)
	}
	thinned, err := Thin(tr, 1, 1)
	if err != nil {
		t.Fatal(err)
	}
	src, err := Limit(Label(thinned, "a"), 2)
	got := must(t, src, err)
	if len(got) != 2 || got[1].Class != "a" || got[1].Line != 3 {
		t.Errorf("%+v", got)
	}
	want := []Count{{"thin: requests kept", 2}, {"thin: requests left out", 0}, {"limit: requests kept, of at most 2", 2}}
	if diff := cmp.Diff(want, CountsOf(src)); diff != "" {
		t.Error(diff)
	}
	if err := CloseSource(src); err != nil {
		t.Error(err)
	}
}
