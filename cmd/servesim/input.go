package main

import "servesim/sim/workload"

// An inputJSON says what a run was made of, beside what its report says.
type inputJSON struct {
	// Scenario is the scenario as TOML, with the defaults in comments, as --print has it.
	Scenario string     `json:"scenario_toml"`
	Trace    *traceJSON `json:"trace"` // of the main workload
	// Merged are the workloads that are merged with the main one.
	Merged     []mergedJSON `json:"merged"`
	Transforms []countJSON  `json:"transforms"`
	Memory     memoryJSON   `json:"memory"`
	Cautions   []string     `json:"cautions"`
	// Outside is the share of steps outside the fitted range.
	Outside float64 `json:"steps_extrapolated_share"`
}

// mergedJSON is a workload that is merged with the main one.
type mergedJSON struct {
	Key   string     `json:"key"`
	Class string     `json:"class"`
	Trace *traceJSON `json:"trace"`
}

// traceJSON accounts for the rows of a trace.
type traceJSON struct {
	File         string      `json:"file"`
	Format       string      `json:"format"`
	Compression  string      `json:"compression"`
	Rows         int64       `json:"rows"`
	Kept         int64       `json:"kept"`
	Dropped      []countJSON `json:"dropped"`
	Raised       int64       `json:"raised_from_0"`
	OutOfOrder   int64       `json:"out_of_order"`
	Ties         int64       `json:"ties"`
	SpanPs       int64       `json:"span_ps"`
	PromptTokens int64       `json:"prompt_tokens"`
	OutputTokens int64       `json:"output_tokens"`
	Ignored      []string    `json:"ignored"`
	Notes        []string    `json:"notes"`
}

// countJSON is a number of things of one kind.
type countJSON struct {
	What  string `json:"what"`
	Count int64  `json:"count"`
}

// memoryJSON is the memory ledger of each GPU, in bytes.
type memoryJSON struct {
	Usable        int64       `json:"usable_bytes"`
	Share         int64       `json:"share_bytes"`
	Items         []bytesJSON `json:"items"`
	KV            int64       `json:"kv_bytes"`
	BytesPerToken int64       `json:"kv_bytes_per_token"`
	BlockTokens   int64       `json:"block_tokens"`
	Blocks        int64       `json:"blocks"`
}

// bytesJSON is a line of the ledger.
type bytesJSON struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
	Given bool   `json:"given"`
}

// input returns what r was made of.
func (r *result) input() inputJSON {
	l := r.plan.ledger
	in := inputJSON{
		Scenario: r.plan.text(), Transforms: countsJSON(r.counts),
		Cautions: append(r.plan.cautions(), traceCautions(r.traces)...), Outside: r.outside,
		Memory: memoryJSON{
			Usable: l.UsableBytes, Share: l.ShareBytes, KV: l.KVBytes,
			BytesPerToken: l.BytesPerToken, BlockTokens: l.BlockSize, Blocks: l.Blocks(),
		},
	}
	for _, i := range l.Items {
		in.Memory.Items = append(in.Memory.Items, bytesJSON{i.Name, i.Bytes, i.Overridden})
	}
	in.Trace, in.Merged = rowsJSON(r.traces[0]), []mergedJSON{}
	for i, p := range r.plan.scenario.Workload.parts()[1:] {
		in.Merged = append(in.Merged, mergedJSON{Key: p.key, Class: p.class, Trace: rowsJSON(r.traces[1+i])})
	}
	return in
}

// rowsJSON returns what became of the rows of a trace, nil if there is none.
func rowsJSON(t *workload.Report) *traceJSON {
	if t == nil {
		return nil
	}
	return &traceJSON{
		File: t.File, Format: t.Format, Compression: t.Compression, Rows: t.Rows, Kept: t.Kept,
		Dropped: countsJSON(t.Dropped), Raised: t.Raised, OutOfOrder: t.OutOfOrder, Ties: t.Ties,
		SpanPs: int64(t.Span), PromptTokens: t.PromptTokens, OutputTokens: t.OutputTokens,
		Ignored: append([]string{}, t.Ignored...), Notes: append([]string{}, t.Notes...),
	}
}

// inputsOf returns what each of results was made of.
func inputsOf(results []*result) []inputJSON {
	var list []inputJSON
	for _, r := range results {
		list = append(list, r.input())
	}
	return list
}

// countsJSON returns counts as JSON has them, a list even if there are none.
func countsJSON(counts []workload.Count) []countJSON {
	list := []countJSON{}
	for _, c := range counts {
		list = append(list, countJSON{c.What, c.N})
	}
	return list
}
