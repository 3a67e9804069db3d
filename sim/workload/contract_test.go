package workload

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"servesim/sim"
)

// samples returns a trace of two rows or more in each format.
func samples() map[string]string {
	return map[string]string{
		"azure":     threeRows,
		"mooncake":  `{"timestamp":27,"input_length":695,"output_length":52,"hash_ids":[46,57]}` + "\n" + `{"timestamp":30,"input_length":512,"output_length":2,"hash_ids":[46]}` + "\n",
		"burstgpt":  burstHead + "5,ChatGPT,472,18,490,Conversation log\n9,GPT-4,1,2,3,API log\n",
		"vidur":     vidurHead + "0.0,374,44\n4.314579,396,109\n",
		"splitwise": splitHead + "0,2,0,1,1,4096,32\n1,2,0,3,1,2048,8\n",
		jsonName: `{"id":"a7","arrival":3.25,"prompt":512,"output":64,"session":3,"class":"chat","blocks":[17,18],"block_tokens":256}` + "\n" +
			`{"arrival":3.5,"prompt":1,"output":1}` + "\n",
		csvName: "when,in,out,id\n1,2,3,a\n2.5,7,3,b\n",
	}
}

// breaks returns a row that no trace in the format may have, to follow a sample.
func breaks(format string) string {
	if format == jsonName || format == "mooncake" {
		return "{\n"
	}
	return "x\n"
}

// sampleOptions returns how to read a sample.
func sampleOptions(format string) Options {
	if format == csvName {
		return Options{Format: format, Columns: Columns{Arrival: "when", Prompt: "in", Output: "out", ID: "id", Unit: "s"}}
	}
	return Options{Format: format}
}

// readSample returns an Opener of text.
func readSample(format, text string) Opener {
	return func() (Source, error) { return Read(strings.NewReader(text), "t", sampleOptions(format)) }
}

// everySource returns an Opener of each kind of source that ends well, and of
// some that end in an error, by the name of what it is.
func everySource(t *testing.T) (good, bad map[string]Opener) {
	t.Helper()
	good, bad = map[string]Opener{}, map[string]Opener{}
	texts := samples()
	for _, f := range Formats() {
		text, ok := texts[f.Name]
		if !ok {
			t.Errorf("there is no sample of format %s; add one", f.Name)
		}
		good["trace "+f.Name] = readSample(f.Name, text)
		bad["trace "+f.Name] = readSample(f.Name, text+breaks(f.Name))
	}
	drawn := func(s Spec) Opener {
		n := int64(300)
		s.Requests = &n
		return func() (Source, error) { return s.Source(3) }
	}
	for name, a := range pinnedArrivals() {
		good[name] = drawn(Spec{Preset: "llmperf", Arrival: &a})
	}
	for _, p := range Presets() {
		good["preset "+p.Name] = drawn(Spec{Preset: p.Name})
	}
	good["closed loop"] = drawn(Spec{Preset: "azure-chat", ClosedLoop: &ClosedLoopSpec{Users: pointer(int64(9)), Ramp: pointer(sim.Minute)}})
	bad["arrivals, too late"] = drawn(Spec{Preset: "llmperf", Arrival: &ArrivalSpec{Process: "constant", RatePerS: pointer(1e-6)}})
	for name, over := range everyTransform() {
		for _, base := range []string{"trace mooncake", "trace azure", "preset mooncake-chat"} {
			good[name+" of "+base] = func() (Source, error) { return over(good[base]) }
		}
		bad[name+" of a broken trace"] = func() (Source, error) { return over(bad["trace mooncake"]) }
	}
	bad["stretch too far"] = func() (Source, error) {
		return Stretch(&list{all: []Request{{Prompt: 1, Output: 1}, {Arrival: sim.MaxTime}}}, 2)
	}
	return good, bad
}

// everyTransform returns each transform, by name.
func everyTransform() map[string]func(Opener) (Source, error) {
	one := func(f func(Source) (Source, error)) func(Opener) (Source, error) {
		return func(open Opener) (Source, error) {
			src, err := open()
			if err != nil {
				return nil, err
			}
			return f(src)
		}
	}
	return map[string]func(Opener) (Source, error){
		"window":        one(func(s Source) (Source, error) { return Window(s, 0, sim.Time(sim.Hour)) }),
		"limit":         one(func(s Source) (Source, error) { return Limit(s, 100_000) }),
		"thin":          one(func(s Source) (Source, error) { return Thin(s, 0.5, 4) }),
		"split first":   one(func(s Source) (Source, error) { return Split(s, 0.5, 4, First) }),
		"split rest":    one(func(s Source) (Source, error) { return Split(s, 0.5, 4, Rest) }),
		"stretch":       one(func(s Source) (Source, error) { return Stretch(s, 1.0/3) }),
		"scale lengths": one(func(s Source) (Source, error) { return ScaleLengths(s, 0.01, 7) }),
		"clip":          one(func(s Source) (Source, error) { return Clip(s, Caps{Prompt: 300, Total: 400}) }),
		"label":         one(func(s Source) (Source, error) { return Label(s, "a"), nil }),
		"rate 0.5":      func(open Opener) (Source, error) { return Rate(open, 0.5, 4) },
		"rate 2.5":      func(open Opener) (Source, error) { return Rate(open, 2.5, 4) },
		"merge": func(open Opener) (Source, error) {
			a, errA := open()
			b, errB := open()
			if err := errors.Join(errA, errB); err != nil {
				return nil, err
			}
			return Merge(a, b)
		},
	}
}

// sourceLaws reads the source of open to its end, holds it to the contract of
// Source and returns what it yielded and the error that ended it.
func sourceLaws(t *testing.T, open Opener) ([]Request, error) {
	t.Helper()
	src, err := open()
	if err != nil {
		return nil, err
	}
	all, err := drain(src)
	if fault := contract(all); fault != "" {
		t.Error(fault)
	}
	end := err
	if end == nil {
		end = io.EOF
	}
	for range 3 {
		if r, again := src.Next(); again != end || cmp.Diff(Request{}, r) != "" {
			t.Errorf("after it ended with %v, Next returns %+v and %v", end, r, again)
		}
	}
	for range 2 {
		if err := CloseSource(src); err != nil {
			t.Errorf("Close: %v", err)
		}
	}
	return all, err
}

func TestEverySourceKeepsTheContract(t *testing.T) {
	good, _ := everySource(t)
	for name, open := range good {
		t.Run(name, func(t *testing.T) {
			all, err := sourceLaws(t, open)
			// Of a trace of two rows, half may be nothing.
			if err != nil || len(all) == 0 && !strings.Contains(name, " of trace ") {
				t.Fatalf("%d requests, %v", len(all), err)
			}
			again, err := sourceLaws(t, open)
			if diff := cmp.Diff(all, again); err != nil || diff != "" {
				t.Errorf("opened again, it yields something else: %v\n%s", err, diff)
			}
		})
	}
}

func TestEverySourceEndsWithOneError(t *testing.T) {
	_, bad := everySource(t)
	for name, open := range bad {
		t.Run(name, func(t *testing.T) {
			if _, err := sourceLaws(t, open); err == nil {
				t.Error("no error")
			}
		})
	}
}

// TestEveryReactiveKeepsTheContract ends the calls of a closed loop, and of what
// the transforms make of one, in no order, some twice and some that never were.
func TestEveryReactiveKeepsTheContract(t *testing.T) {
	spec := Spec{Preset: "azure-chat", Requests: pointer(int64(60)), ClosedLoop: &ClosedLoopSpec{
		Users: pointer(int64(7)), ThinkTime: &DelaySpec{Dist: "exponential", Mean: pointer(sim.Second)}}}
	open := func() (Source, error) { return spec.Source(5) }
	for _, name := range []string{"", "clip", "label"} {
		t.Run(name, func(t *testing.T) {
			src, err := open()
			if over := everyTransform()[name]; over != nil {
				src, err = over(open)
			}
			loop, ok := src.(Reactive)
			if err != nil || !ok {
				t.Fatalf("%v; a %T isn't Reactive", err, src)
			}
			reactiveLaws(t, loop)
		})
	}
}

// reactiveLaws holds loop, of which 60 requests are to come, to its contract.
func reactiveLaws(t *testing.T, loop Reactive) {
	inside, err := drain(loop)
	if fault := contract(inside); err != nil || fault != "" {
		t.Fatal(err, fault)
	}
	next, now := int64(len(inside)), sim.Time(0)
	src := sim.Seed(1).Stream("order of ends")
	for len(inside) > 0 {
		if r, ok := loop.Done(next, now); ok {
			t.Fatalf("the end of request %d, which never was, releases %+v", next, r)
		}
		i := src.Uint64() % uint64(len(inside))
		ended := inside[i].ID
		inside = append(inside[:i], inside[i+1:]...)
		now = now.Add(sim.Millisecond)
		r, ok := loop.Done(ended, now)
		if ok {
			if r.ID != next || r.Arrival < now || r.Prompt < 1 || r.Output < 1 {
				t.Fatalf("at %v the end of %d releases %+v, want id %d", now, ended, r, next)
			}
			next++
			inside = append(inside, r)
		}
		if r, ok := loop.Done(ended, now); ok {
			t.Fatalf("the end of %d, told twice, releases %+v", ended, r)
		}
	}
	if next != 60 {
		t.Errorf("%d requests, want 60", next)
	}
}
