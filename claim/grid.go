package claim

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"servesim/analysis"
	"servesim/scenario"
	"servesim/sim/gpu"
)

// Lengths are those of every request of a combination, in tokens.
type Lengths struct{ Prompt, Output int64 }

// String writes l as benchmarks do.
func (l Lengths) String() string {
	return analysis.Grouped(l.Prompt) + "/" + analysis.Grouped(l.Output)
}

// DefaultLengths are those that published figures are often of: the square ones of
// benchmark tools, long answers to short prompts, for which throughput is highest,
// the reverse, and a document with a question.
func DefaultLengths() []Lengths {
	return []Lengths{{128, 128}, {128, 2048}, {1024, 1024}, {2048, 128}, {8192, 1024}, {32000, 500}}
}

// DefaultUsers are numbers of users of a replica, each of whom waits for his answer
// and then calls again; 0 is offline: all requests there from the beginning.
func DefaultUsers() []int64 { return []int64{1, 4, 16, 64, 256, 1024, 0} }

// ServerGPUs is the number of GPUs of the servers that are sold, the most that a
// claim is tried on that doesn't say how many.
const ServerGPUs = 8

// Options say which combinations are tried.
type Options struct {
	// Lengths and Users are the defaults if empty.
	Lengths []Lengths
	Users   []int64
	// GPUs is the number that a claim on a deployment is of; 0 tries up to ServerGPUs.
	GPUs int64
	// Own tells that the number of GPUs of a replica and the format of the weights are
	// those of the scenario, even where no setting gives them.
	Own bool
	// Jobs is the number of simulations at once, at least 1.
	Jobs int
	// Progress, if it isn't nil, hears of each of total combinations, from one goroutine
	// at a time.
	Progress func(total int)
}

// The limits of Options.
const (
	maxLength = 1_000_000
	maxUsers  = 100_000
	maxGPUs   = 8192
	maxValues = 50
)

// check gives o its defaults and returns a scenario.UsageError of all that is wrong.
func (o *Options) check(f *Figure) error {
	var faults []error
	fault := func(format string, args ...any) { faults = append(faults, fmt.Errorf(format, args...)) }
	if len(o.Lengths) == 0 {
		o.Lengths = DefaultLengths()
	}
	if len(o.Users) == 0 {
		o.Users = DefaultUsers()
	}
	for i, l := range o.Lengths {
		if l.Prompt < 1 || l.Output < 1 || l.Prompt > maxLength || l.Output > maxLength {
			fault("lengths: found %d/%d; prompt and output have from 1 to %s tokens", l.Prompt, l.Output, analysis.Grouped(maxLength))
		}
		if slices.Contains(o.Lengths[:i], l) {
			fault("lengths: %d/%d is given twice; leave one out", l.Prompt, l.Output)
		}
	}
	for i, n := range o.Users {
		if n < 0 || n > maxUsers {
			fault("users: found %d; a replica has from 1 to %s of them, or offline load", n, analysis.Grouped(maxUsers))
		}
		if slices.Contains(o.Users[:i], n) {
			fault("users: %s is given twice; leave one out", loadName(n))
		}
	}
	if len(o.Lengths) > maxValues || len(o.Users) > maxValues {
		fault("found %d lengths and %d loads; at most %d of each are tried", len(o.Lengths), len(o.Users), maxValues)
	}
	if o.GPUs < 0 || o.GPUs > maxGPUs {
		fault("GPUs: found %d; must be from 1 to %d", o.GPUs, maxGPUs)
	}
	if o.GPUs > 0 && !f.deployment() {
		fault("GPUs: found %d, which changes nothing: %s is of no number of GPUs; leave it out", o.GPUs, f)
	}
	if err := errors.Join(faults...); err != nil {
		return &scenario.UsageError{Err: err}
	}
	return nil
}

// deployment tells whether f is of all GPUs together.
func (f *Figure) deployment() bool { return !f.Quantity.Latency() && f.Scope == Deployment }

// loadName writes a number of users.
func loadName(users int64) string {
	if users == 0 {
		return "offline"
	}
	return analysis.Counted(users, "user")
}

// A Layout is how a model is laid on GPUs.
type Layout struct {
	// Weights and KV are number formats, and TP is the number of GPUs that share each
	// layer, those of a replica.
	Weights, KV string
	TP          int64
}

// String names l.
func (l Layout) String() string { return fmt.Sprintf("%s TP%d", l.precision(), l.TP) }

// precision names the number formats of l.
func (l Layout) precision() string { return l.Weights + "/" + l.KV }

// The keys of a layout.
const (
	tpKey    = "hardware.tensor_parallel_size"
	dtypeKey = "model.dtype"
	kvKey    = "model.kv_cache_dtype"
)

// value returns what the settings of src give key.
func value(src scenario.Source, key string) (any, bool) {
	for _, s := range src.Settings {
		if s.Key == key {
			return s.Value, true
		}
	}
	return nil, false
}

// layouts returns those that are tried: what is given of one is not varied.
func layouts(src scenario.Source, own bool) ([]Layout, error) {
	tps, formats, caches := []int64{1, 2, 4, 8}, []string{string(gpu.BF16), string(gpu.FP8), string(gpu.FP4)}, []string{string(gpu.BF16), string(gpu.FP8)}
	if own {
		p, err := scenario.Load(src)
		if err != nil {
			return nil, err
		}
		m := &p.Scenario.Model
		tps, formats, caches = []int64{*p.Scenario.Hardware.TensorParallelSize}, []string{m.Dtype}, []string{m.KVCacheDtype}
	}
	if tp, ok := value(src, tpKey); ok {
		n, whole := tp.(int64)
		if !whole {
			return nil, usagef("--tp %s: %s: must be a whole number of GPUs", scenario.ValueText(tp), tpKey)
		}
		tps = []int64{n}
	}
	if kv, ok := value(src, kvKey); ok {
		caches = []string{scenario.ValueText(kv)}
	}
	if dtype, ok := value(src, dtypeKey); ok {
		formats = []string{scenario.ValueText(dtype)}
	} else if !own {
		formats = usable(src, formats)
	}
	var list []Layout
	for _, f := range formats {
		for _, kv := range caches {
			for _, n := range tps {
				list = append(list, Layout{f, kv, n})
			}
		}
	}
	return list, nil
}

// usable returns formats and the model's own, such as that of experts in mxfp4, without
// what the GPU of src doesn't compute with.
func usable(src scenario.Source, formats []string) []string {
	name, _ := value(src, "model.name")
	if m, err := gpu.LoadModel(scenario.ValueText(name)); err == nil && m.WeightFormat != "" && !slices.Contains(formats, m.WeightFormat) {
		formats = append(formats, m.WeightFormat)
	}
	name, _ = value(src, "hardware.gpu")
	if p, err := gpu.LoadProfile(scenario.ValueText(name)); err == nil {
		formats = slices.DeleteFunc(formats, func(f string) bool { return p.Datasheet.Peak(gpu.Format(f)) == 0 })
	}
	return formats
}

// refuse returns a scenario.UsageError for settings that a claim takes no notice of, and
// if nothing says which model runs on what: own tells that the scenario does.
func refuse(src scenario.Source, own bool) error {
	var faults []error
	for _, need := range []struct{ key, flag, names string }{
		{"model.name", "--model", strings.Join(gpu.ModelNames(), ", ")}, {"hardware.gpu", "--gpu", strings.Join(gpu.ProfileNames(), ", ")},
	} {
		if _, ok := value(src, need.key); !ok && !own {
			faults = append(faults, fmt.Errorf("%s: missing: a claim is of a model on a GPU; give %s with one of %s, or a scenario file", need.key, need.flag, need.names))
		}
	}
	for _, s := range src.Settings {
		for _, part := range []string{"workload", "transform", "slo", "run", "pool"} {
			if s.Key == part || strings.HasPrefix(s.Key, part+".") {
				faults = append(faults, fmt.Errorf("%s: changes nothing: a claim is tried on lengths, loads and numbers of GPUs of its own (--lengths, --users, --num-gpus); leave it out", s))
			}
		}
	}
	if err := errors.Join(faults...); err != nil {
		return &scenario.UsageError{Err: err}
	}
	return nil
}
