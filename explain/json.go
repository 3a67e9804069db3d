package explain

import (
	"encoding/json"
	"fmt"
	"io"
	"math"

	"servesim/analysis"
	"servesim/analysis/blame"
	"servesim/scenario"
	"servesim/sim"
)

// schema is the version of the JSON that this package writes.
const schema = 1

// A document is what every JSON of this package begins with.
type document struct {
	Schema int            `json:"schema"`
	Kind   string         `json:"kind"`
	Input  map[string]any `json:"input,omitempty"`
}

// writeJSON writes v, indented.
func writeJSON(w io.Writer, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// number is x, or nil of what has no JSON.
func number(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// A changeJSON is a change of a latency.
type changeJSON struct {
	Metric    string `json:"metric"`
	Class     string `json:"class,omitempty"`
	Statistic string `json:"statistic"`
	Base      int64  `json:"base_ps"`
	Run       int64  `json:"run_ps"`
	Lo        *int64 `json:"lo_ps"`
	Hi        *int64 `json:"hi_ps"`
	Method    string `json:"method"`
	Verdict   string `json:"verdict"`
}

// changesJSON returns changes of statistics, those without data left out.
func changesJSON(list []Statistic, changes []analysis.Change) []changeJSON {
	out := []changeJSON{}
	for i := range changes {
		c := &changes[i]
		if c.Name == "" {
			continue
		}
		j := changeJSON{Metric: c.Key, Class: list[i].Class, Statistic: c.Statistic, Base: int64(c.Base), Run: int64(c.Run),
			Method: string(c.Interval.Method), Verdict: string(c.Direction)}
		if c.Interval.OK {
			lo, hi := int64(c.Interval.Lo), int64(c.Interval.Hi)
			j.Lo, j.Hi = &lo, &hi
		}
		out = append(out, j)
	}
	return out
}

// A shareJSON is a change of goodput.
type shareJSON struct {
	Base    *float64 `json:"base"`
	Run     *float64 `json:"run"`
	Lo      *float64 `json:"lo"`
	Hi      *float64 `json:"hi"`
	Verdict string   `json:"verdict"`
}

// goodputJSON returns g, nil if there is none.
func goodputJSON(g *analysis.ShareChange) *shareJSON {
	if g == nil {
		return nil
	}
	j := &shareJSON{Base: number(g.Base), Run: number(g.Run), Verdict: string(g.Direction)}
	if g.Interval.OK {
		j.Lo, j.Hi = number(g.Interval.Lo), number(g.Interval.Hi)
	}
	return j
}

// sentencesJSON is sentences as members of an array.
func sentencesJSON(list []Sentence) []map[string]string {
	out := []map[string]string{}
	for _, s := range list {
		out = append(out, map[string]string{"name": s.Name, "text": s.Text})
	}
	return out
}

// partsJSON is parts without those that are 0.
func partsJSON(parts *blame.Parts) map[string]int64 {
	out := map[string]int64{}
	for c, d := range parts {
		if d != 0 {
			out[blame.Cause(c).Key()] = int64(d)
		}
	}
	return out
}

// JSON writes the gradient for programs; spans are integers in keys that end with
// _ps. The errors are those of w.
func (g *Gradient) JSON(w io.Writer) error {
	type knob struct {
		Name       string       `json:"name"`
		Reason     string       `json:"left_out,omitempty"`
		Overloaded bool         `json:"overloaded"`
		Changes    []changeJSON `json:"changes,omitempty"`
		Goodput    *shareJSON   `json:"goodput,omitempty"`
	}
	knobs := []knob{}
	for i := range g.Knobs {
		k := &g.Knobs[i]
		one := knob{Name: k.Name, Reason: k.Reason, Overloaded: k.Overloaded, Goodput: goodputJSON(k.Goodput)}
		if k.Reason == "" {
			one.Changes = changesJSON(g.Statistics, k.Changes)
		}
		knobs = append(knobs, one)
	}
	return writeJSON(w, struct {
		document
		Seeds int    `json:"runs_each"`
		Knobs []knob `json:"knobs"`
	}{document{schema, "servesim-gradient", inputOf(g.Result)}, g.Seeds, knobs})
}

// inputOf says what ran.
func inputOf(r *scenario.Result) map[string]any {
	out := map[string]any{}
	for _, f := range r.Facts() {
		if f.Name != "" && out[f.Name] == nil {
			out[f.Name] = f.Text
		}
	}
	return out
}

// JSON writes the pairs for programs, as Gradient.JSON does.
func (p *Pairs) JSON(w io.Writer) error {
	type spread struct {
		Lost   float64 `json:"lost_s"`
		Tokens float64 `json:"prompt_tokens"`
		Share  float64 `json:"share_of_gaps"`
		Each   float64 `json:"each_s"`
		Tail   float64 `json:"share_of_tail"`
	}
	type pair struct {
		Coarse    string              `json:"from"`
		Fine      string              `json:"to"`
		Before    spread              `json:"beside_prompts_from"`
		After     spread              `json:"beside_prompts_to"`
		Changes   []changeJSON        `json:"changes"`
		Goodput   *shareJSON          `json:"goodput"`
		Rules     []ruleJSON          `json:"rules"`
		Sentences []map[string]string `json:"sentences"`
	}
	pairs := []pair{}
	for i := range p.List {
		one := &p.List[i]
		pairs = append(pairs, pair{one.Coarse, one.Fine, spread(one.Before), spread(one.After), changesJSON(one.Statistics, one.Changes),
			goodputJSON(one.Goodput), rulesJSON(one.Rules), sentencesJSON(one.Sentences())})
	}
	return writeJSON(w, struct {
		document
		Seeds int    `json:"runs_each"`
		Pairs []pair `json:"pairs"`
	}{document{schema, "servesim-pairs", nil}, p.Seeds, pairs})
}

// A ruleJSON is what a rule foretold and what came.
type ruleJSON struct {
	Metric    string  `json:"metric"`
	Statistic string  `json:"statistic"`
	Beyond    float64 `json:"boundary"`
	Off       float64 `json:"over_budget_without"`
	On        float64 `json:"over_budget_with"`
	AnyOff    float64 `json:"beside_prompts_without"`
	AnyOn     float64 `json:"beside_prompts_with"`
	Predicted string  `json:"foretold"`
	Plain     string  `json:"foretold_of_every_prompt"`
	Found     string  `json:"found"`
}

// rulesJSON returns rules.
func rulesJSON(list []Rule) []ruleJSON {
	out := []ruleJSON{}
	for i := range list {
		r := &list[i]
		s := Statistics()[r.Of]
		out = append(out, ruleJSON{s.Key, s.At, r.Beyond, r.Off, r.On, r.AnyOff, r.AnyOn, string(r.Predicted), string(r.Plain), string(r.Found)})
	}
	return out
}

// JSON writes the map for programs, as Gradient.JSON does.
func (m *Map) JSON(w io.Writer) error {
	type cell struct {
		Share      float64      `json:"share_of_long"`
		Length     int32        `json:"long_tokens"`
		Load       float64      `json:"load"`
		Budget     int32        `json:"max_num_batched_tokens"`
		Capacity   float64      `json:"capacity_per_s"`
		Rate       float64      `json:"rate_per_s"`
		Before     bool         `json:"overloaded_without"`
		Overloaded bool         `json:"overloaded_with"`
		Changes    []changeJSON `json:"changes"`
		Goodput    *shareJSON   `json:"goodput"`
		Rules      []ruleJSON   `json:"rules"`
	}
	cells := []cell{}
	for i := range m.Cells {
		c := &m.Cells[i]
		cells = append(cells, cell{c.Share, c.Length, c.Load, c.Budget, c.Capacity, c.Rate, c.Before, c.Overloaded,
			changesJSON(m.Statistics, c.Changes), goodputJSON(c.Goodput), rulesJSON(c.Rules)})
	}
	return writeJSON(w, struct {
		document
		Requests int64  `json:"requests"`
		Seeds    int    `json:"runs_each"`
		Cells    []cell `json:"cells"`
	}{document{Schema: schema, Kind: "servesim-regimes"}, m.Grid.Requests, m.Grid.Seeds, cells})
}

// JSON writes the causes for programs: the sentences, whose figures run --blame has
// as JSON.
func (c *Causes) JSON(w io.Writer) error {
	return writeJSON(w, struct {
		document
		Sentences []map[string]string `json:"sentences"`
	}{document{schema, "servesim-causes", inputOf(c.Result)}, sentencesJSON(c.Sentences())})
}

// An eventJSON is an event of a life.
type eventJSON struct {
	After   sim.Duration     `json:"after_ps"`
	Lasts   sim.Duration     `json:"lasts_ps"`
	Parts   map[string]int64 `json:"parts_ps"`
	Steps   int              `json:"steps_with_prompts"`
	Decodes *int32           `json:"decodes,omitempty"`
	Prompts []promptJSON     `json:"prompts,omitempty"`
	Text    string           `json:"text"`
}

// A promptJSON is a part of a prompt in a step.
type promptJSON struct {
	ID     int64 `json:"id"`
	From   int32 `json:"from"`
	Tokens int32 `json:"tokens"`
	Of     int32 `json:"of"`
}

// eventsJSON returns the events of a life.
func (l *Life) eventsJSON() []eventJSON {
	out := []eventJSON{}
	for i := range l.Events {
		e := &l.Events[i]
		j := eventJSON{After: e.After, Lasts: e.Lasts, Parts: partsJSON(&e.Parts), Steps: e.Steps, Text: e.text(l.Request.ID)}
		if e.Batch != nil {
			j.Decodes = &e.Batch.Decodes
			for _, p := range e.Batch.Prompts {
				j.Prompts = append(j.Prompts, promptJSON(p))
			}
		}
		out = append(out, j)
	}
	return out
}

// JSON writes the lives for programs, as Gradient.JSON does.
func (l *Lives) JSON(w io.Writer) error {
	type culprit struct {
		ID     int64        `json:"id"`
		Prompt int32        `json:"prompt"`
		Cause  string       `json:"cause"`
		Time   sim.Duration `json:"ps"`
	}
	type life struct {
		ID       int64            `json:"id"`
		Prompt   int32            `json:"prompt"`
		Output   int32            `json:"output"`
		Outcome  string           `json:"outcome"`
		Arrival  sim.Time         `json:"arrival_ps"`
		ToFirst  sim.Duration     `json:"to_first_ps"`
		Whole    sim.Duration     `json:"whole_ps"`
		First    map[string]int64 `json:"to_first_parts_ps"`
		Rest     map[string]int64 `json:"after_first_parts_ps"`
		Gap      map[string]int64 `json:"longest_gap_parts_ps"`
		Events   []eventJSON      `json:"events"`
		Culprits []culprit        `json:"culprits"`
	}
	lives := []life{}
	for i := range l.List {
		one := &l.List[i]
		r := &one.Request
		j := life{r.ID, r.Prompt, r.Output, r.Outcome.String(), r.Arrival, one.ToFirst.Sum(), one.ToFirst.Sum() + one.AfterFirst.Sum(),
			partsJSON(&one.ToFirst), partsJSON(&one.AfterFirst), partsJSON(&one.Gap), one.eventsJSON(), []culprit{}}
		for _, c := range one.Culprits {
			j.Culprits = append(j.Culprits, culprit{c.ID, c.Prompt, c.Cause.Key(), c.Time})
		}
		lives = append(lives, j)
	}
	return writeJSON(w, struct {
		document
		Lives []life `json:"lives"`
	}{document{schema, "servesim-lives", inputOf(l.Result)}, lives})
}
