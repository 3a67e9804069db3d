package scenario

import "servesim/sim/workload"

// An Input says what a run was made of, beside what its report says.
type Input struct {
	// Scenario is the scenario as TOML, with the defaults in comments, as --print has it.
	Scenario string      `json:"scenario_toml"`
	Trace    *InputTrace `json:"trace"` // of the main workload
	// Merged are the workloads that are merged with the main one.
	Merged     []InputMerged `json:"merged"`
	Transforms []InputCount  `json:"transforms"`
	Memory     InputMemory   `json:"memory"`
	Cautions   []string      `json:"cautions"`
	// Outside is the share of steps outside the fitted range.
	Outside float64 `json:"steps_extrapolated_share"`
}

// InputMerged is a workload that is merged with the main one.
type InputMerged struct {
	Key   string      `json:"key"`
	Class string      `json:"class"`
	Trace *InputTrace `json:"trace"`
}

// InputTrace accounts for the rows of a trace.
type InputTrace struct {
	File         string       `json:"file"`
	Format       string       `json:"format"`
	Compression  string       `json:"compression"`
	Rows         int64        `json:"rows"`
	Kept         int64        `json:"kept"`
	Dropped      []InputCount `json:"dropped"`
	Raised       int64        `json:"raised_from_0"`
	OutOfOrder   int64        `json:"out_of_order"`
	Ties         int64        `json:"ties"`
	SpanPs       int64        `json:"span_ps"`
	PromptTokens int64        `json:"prompt_tokens"`
	OutputTokens int64        `json:"output_tokens"`
	Ignored      []string     `json:"ignored"`
	Notes        []string     `json:"notes"`
}

// InputCount is a number of things of one kind.
type InputCount struct {
	What  string `json:"what"`
	Count int64  `json:"count"`
}

// InputMemory is the memory ledger of each GPU, in bytes.
type InputMemory struct {
	Usable        int64        `json:"usable_bytes"`
	Share         int64        `json:"share_bytes"`
	Items         []InputBytes `json:"items"`
	KV            int64        `json:"kv_bytes"`
	BytesPerToken int64        `json:"kv_bytes_per_token"`
	BlockTokens   int64        `json:"block_tokens"`
	Blocks        int64        `json:"blocks"`
}

// InputBytes is a line of the ledger.
type InputBytes struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	Given bool   `json:"given"`
}

// Input returns what r was made of.
func (r *Result) Input() Input {
	l := r.Plan.Ledger
	in := Input{
		Scenario: r.Plan.Text(), Transforms: countsJSON(r.Counts),
		Cautions: append(r.Plan.Cautions(), r.Plan.traceCautions(r.Traces)...), Outside: r.Outside,
		Memory: InputMemory{
			Usable: l.UsableBytes, Share: l.ShareBytes, KV: l.KVBytes,
			BytesPerToken: l.BytesPerToken, BlockTokens: l.BlockSize, Blocks: l.Blocks(),
		},
	}
	for _, i := range l.Items {
		in.Memory.Items = append(in.Memory.Items, InputBytes{i.Name, i.Bytes, i.Overridden})
	}
	in.Trace, in.Merged = rowsJSON(r.Traces[0]), []InputMerged{}
	for i, p := range r.Plan.Scenario.Workload.Parts()[1:] {
		in.Merged = append(in.Merged, InputMerged{Key: p.Key, Class: p.Class, Trace: rowsJSON(r.Traces[1+i])})
	}
	return in
}

// rowsJSON returns what became of the rows of a trace, nil if there is none.
func rowsJSON(t *workload.Report) *InputTrace {
	if t == nil {
		return nil
	}
	return &InputTrace{
		File: t.File, Format: t.Format, Compression: t.Compression, Rows: t.Rows, Kept: t.Kept,
		Dropped: countsJSON(t.Dropped), Raised: t.Raised, OutOfOrder: t.OutOfOrder, Ties: t.Ties,
		SpanPs: int64(t.Span), PromptTokens: t.PromptTokens, OutputTokens: t.OutputTokens,
		Ignored: append([]string{}, t.Ignored...), Notes: append([]string{}, t.Notes...),
	}
}

// InputsOf returns what each of results was made of.
func InputsOf(results []*Result) []Input {
	var list []Input
	for _, r := range results {
		list = append(list, r.Input())
	}
	return list
}

// countsJSON returns counts as JSON has them, a list even if there are none.
func countsJSON(counts []workload.Count) []InputCount {
	list := []InputCount{}
	for _, c := range counts {
		list = append(list, InputCount{c.What, c.N})
	}
	return list
}
