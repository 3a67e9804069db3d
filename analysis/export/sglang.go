package export

import (
	"fmt"

	"servesim/internal/jsonread"
	"servesim/sim"
)

// sglangFormat is what SGLang's bench_serving appends to its --output-file with
// --output-details, a line a run (sgl-project/sglang
// python/sglang/benchmark/serving.py, benchmark).
func sglangFormat() format {
	return format{
		Format: Format{
			Name: "sglang", Title: "lines of sglang.bench_serving with --output-details", Dialect: "sglang",
			Keys: []string{"backend", "dataset_name", "request_rate", "sharegpt_output_len"},
		},
		lines: true,
		read:  readSGLang,
	}
}

// sglangResult is a line of bench_serving, in the order of its keys. request_rate
// is Infinity where it was not limited. The arrays need --output-details.
type sglangResult struct {
	Tag            *string  `json:"tag"`
	Backend        string   `json:"backend"`
	DatasetName    string   `json:"dataset_name"`
	RequestRate    rate     `json:"request_rate"`
	MaxConcurrency *count   `json:"max_concurrency"`
	Duration       *span    `json:"duration"`
	Completed      *count   `json:"completed"`
	MeanTTFT       *float64 `json:"mean_ttft_ms"`

	InputLens    []count  `json:"input_lens"`
	OutputLens   []count  `json:"output_lens"`
	TTFTs        []span   `json:"ttfts"`
	ITLs         [][]span `json:"itls"`
	Errors       []string `json:"errors"`
	CachedTokens []count  `json:"cached_tokens"`
}

func readSGLang(p *pass) {
	plan := jsonread.NewPlan[sglangResult]()
	for p.in.Next() {
		var v sglangResult
		if plan.Read(p.in, &v) && v.check(p) {
			v.emit(p)
		}
	}
}

// check tells whether the arrays of v are there and fit.
func (v *sglangResult) check(p *pass) bool {
	before := p.faults.Len()
	a := v.answers()
	var c columns
	a.need(&c)
	c.may("cached_tokens", v.CachedTokens != nil, len(v.CachedTokens))
	if !c.check(p, "it was written without --output-details: run sglang.bench_serving with it") {
		return false
	}
	for i := range v.TTFTs {
		if !a.good(i) {
			continue
		}
		whole := a.whole(i)
		if v.Duration != nil && whole > sim.Duration(*v.Duration)+sim.Millisecond {
			p.fault(fmt.Sprintf("itls[%d]", i), "a call of "+seconds(whole), "at most the duration of the run, "+seconds(sim.Duration(*v.Duration)),
				"SGLang writes ttfts and itls in s; these may be in ms")
		}
	}
	a.units(p, v.MeanTTFT)
	return p.faults.Len() == before
}

// answers returns the arrays that both tools' results have.
func (v *sglangResult) answers() *answers {
	return &answers{inputs: v.InputLens, outputs: v.OutputLens, ttfts: v.TTFTs, itls: v.ITLs, errors: v.Errors}
}

// native tells whether the run was made through SGLang's own API.
func (v *sglangResult) native() bool { return v.Backend == "sglang" || v.Backend == "sglang-native" }

// oneEach gives each chunk but the first one token, and the first the rest.
func (f *found) oneEach() {
	rest := f.call.Output - int32(len(f.call.Chunks)-1)
	if rest < 1 {
		return
	}
	for i := range f.call.Chunks {
		f.call.Chunks[i].Tokens = 1
	}
	f.call.Chunks[0].Tokens = rest
}

// emit hands on the calls of v.
func (v *sglangResult) emit(p *pass) {
	run := &Run{Label: fmt.Sprintf("%s, %s, request_rate %s", v.Backend, v.DatasetName, v.RequestRate)}
	if v.MaxConcurrency != nil {
		run.Label += fmt.Sprintf(", max_concurrency %d", *v.MaxConcurrency)
	}
	run.Facts.Failures = true
	if v.Duration != nil {
		run.Facts.Wall = sim.Duration(*v.Duration)
	}
	run.Notes = []string{"SGLang writes neither when calls were sent nor when their streams ended: a call is over with its last chunk"}
	if v.native() {
		run.Notes = append(run.Notes, "this backend's itls are those between tokens: a gap between chunks is spread evenly over the tokens of the later one")
	}
	p.begin(run)
	a := v.answers()
	for i := range v.TTFTs {
		f := a.found(i)
		if v.CachedTokens != nil {
			f.call.Cached = int32(v.CachedTokens[i])
		}
		if a.good(i) {
			f.stream(sim.Duration(v.TTFTs[i]), v.ITLs[i])
			if v.native() {
				f.oneEach()
			}
			if v.TTFTs[i] == 0 {
				run.count("answers with a ttft of 0, which SGLang writes where no text came")
			}
		} else {
			a.failed(p, i, f)
		}
		p.emit(f)
	}
}
