package scenario

import (
	"fmt"
	"strings"

	"servesim/internal/strict"
	"servesim/sim"
	"servesim/sim/workload"
)

// TransformSection changes a workload. Whatever the order of its keys, they
// work in the order in which they stand here.
type TransformSection struct {
	// From and To cut out a window of time, which then begins at 0.
	From *sim.Duration `toml:"from"`
	To   *sim.Duration `toml:"to"`
	// Rate multiplies the rate and keeps bursts: below 1 it thins the workload,
	// above 1 it lays shifted copies of it over each other.
	Rate *float64 `toml:"rate"`
	// SplitFraction divides the requests in two, whole sessions together: the
	// first part gets each with this probability and the rest the others.
	// SplitPart says which of the two is replayed, "first" or "rest"; both follow
	// from the seed, and together they are the workload.
	SplitFraction *float64 `toml:"split_fraction"`
	SplitPart     string   `toml:"split_part"`
	// Stretch multiplies every arrival time.
	Stretch *float64 `toml:"stretch"`
	// ScalePrompt and ScaleOutput multiply lengths.
	ScalePrompt *float64 `toml:"scale_prompt"`
	ScaleOutput *float64 `toml:"scale_output"`
	// MaxPrompt, MaxOutput and MaxTotal cut lengths, in tokens.
	MaxPrompt *int32 `toml:"max_prompt"`
	MaxOutput *int32 `toml:"max_output"`
	MaxTotal  *int32 `toml:"max_total"`
	// Limit ends the workload after so many requests.
	Limit *int64 `toml:"limit"`
	// Class labels every request.
	Class string `toml:"class"`
}

// keys returns the keys that t gives, on one line, or "".
func (t *TransformSection) keys() string { return strings.Join(strict.Pairs(*t), ", ") }

// check returns the faults of t's values.
func (t *TransformSection) check() []strict.Fault {
	var faults []strict.Fault
	fault := func(key, format string, args ...any) {
		faults = append(faults, strict.Fault{Key: "transform." + key, Text: fmt.Sprintf(format, args...)})
	}
	from, to := value(t.From), sim.MaxDuration
	adopt(&to, t.To)
	if from < 0 {
		fault("from", "found %v; must be 0s or more", from)
	}
	if to <= from {
		fault("to", "found %v, which isn't after from, %v", to, from)
	}
	for _, f := range []struct {
		key string
		v   *float64
		max float64
	}{{"rate", t.Rate, 256}, {"stretch", t.Stretch, 1e9}, {"scale_prompt", t.ScalePrompt, 1e9}, {"scale_output", t.ScaleOutput, 1e9}} {
		if f.v != nil && !(*f.v > 0 && *f.v <= f.max) {
			fault(f.key, "found %v; must be a factor of more than 0 and at most %v", *f.v, f.max)
		}
	}
	for _, n := range []struct {
		key string
		v   *int32
		min int32
	}{{"max_prompt", t.MaxPrompt, 1}, {"max_output", t.MaxOutput, 1}, {"max_total", t.MaxTotal, 2}} {
		if n.v != nil && *n.v < n.min {
			fault(n.key, "found %d; must be %d or more tokens", *n.v, n.min)
		}
	}
	faults = append(faults, t.checkSplit()...)
	if t.Limit != nil && *t.Limit < 1 {
		fault("limit", "found %d; must be 1 or more requests", *t.Limit)
	}
	return faults
}

// checkSplit returns the faults of the two keys of a split.
func (t *TransformSection) checkSplit() []strict.Fault {
	f := t.SplitFraction
	switch {
	case f == nil && t.SplitPart == "":
		return nil
	case f == nil:
		return []strict.Fault{{Key: "transform.split_fraction", Text: "missing beside split_part; give the probability of the first part, such as 0.5"}}
	case !(*f > 0 && *f < 1):
		return []strict.Fault{{Key: "transform.split_fraction", Text: fmt.Sprintf("found %v; must be a probability of more than 0 and less than 1", *f)}}
	case t.SplitPart != "first" && t.SplitPart != "rest":
		return []strict.Fault{{Key: "transform.split_part", Text: fmt.Sprintf("found %q; must say which part to replay, \"first\" or \"rest\"", t.SplitPart)}}
	}
	return nil
}

// over opens a workload and applies t to it.
func (t *TransformSection) over(open workload.Opener, seed sim.Seed) (workload.Source, error) {
	if t.From != nil || t.To != nil {
		to := sim.MaxDuration
		adopt(&to, t.To)
		open = chain(open, func(src workload.Source) (workload.Source, error) {
			return workload.Window(src, sim.Time(value(t.From)), sim.Time(to))
		})
	}
	if t.Rate != nil {
		once := open
		open = func() (workload.Source, error) { return workload.Rate(once, *t.Rate, seed) }
	}
	if f := t.SplitFraction; f != nil {
		part := workload.First
		if t.SplitPart == "rest" {
			part = workload.Rest
		}
		open = chain(open, func(src workload.Source) (workload.Source, error) { return workload.Split(src, *f, seed, part) })
	}
	for _, s := range t.steps() {
		open = chain(open, s)
	}
	return open()
}

// A step makes one source of another.
type step = func(workload.Source) (workload.Source, error)

// steps returns what t does to a source after window, rate and split, in order.
func (t *TransformSection) steps() []step {
	var list []step
	if t.Stretch != nil {
		list = append(list, func(src workload.Source) (workload.Source, error) { return workload.Stretch(src, *t.Stretch) })
	}
	if t.ScalePrompt != nil || t.ScaleOutput != nil {
		prompt, output := 1.0, 1.0
		adopt(&prompt, t.ScalePrompt)
		adopt(&output, t.ScaleOutput)
		list = append(list, func(src workload.Source) (workload.Source, error) {
			return workload.ScaleLengths(src, prompt, output)
		})
	}
	caps := workload.Caps{Prompt: value(t.MaxPrompt), Output: value(t.MaxOutput), Total: value(t.MaxTotal)}
	if caps != (workload.Caps{}) {
		list = append(list, func(src workload.Source) (workload.Source, error) { return workload.Clip(src, caps) })
	}
	if t.Limit != nil {
		list = append(list, func(src workload.Source) (workload.Source, error) { return workload.Limit(src, *t.Limit) })
	}
	if t.Class != "" {
		list = append(list, func(src workload.Source) (workload.Source, error) { return workload.Label(src, t.Class), nil })
	}
	return list
}

// chain returns an Opener of what step makes of the source that open opens,
// which is closed if step fails.
func chain(open workload.Opener, step step) workload.Opener {
	return func() (workload.Source, error) {
		src, err := open()
		if err != nil {
			return nil, err
		}
		out, err := step(src)
		if err != nil {
			workload.CloseSource(src)
		}
		return out, err
	}
}
