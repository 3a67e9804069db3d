package explain

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"servesim/analysis"
	"servesim/scenario"
	"servesim/sim"
)

// smallGrid is a map that is drawn in no time.
func smallGrid() Grid {
	return Grid{Shares: []float64{0.01, 0.05}, Lengths: []int32{3000, 12000}, Loads: []float64{0.3, 0.9}, Budgets: []int32{512, 2048}, Requests: 200, Seeds: 5}
}

// TestRegimesGolden pins a small map, which doesn't depend on how many runs are
// under way at once.
func TestRegimesGolden(t *testing.T) {
	var out, one bytes.Buffer
	var last [2]int
	m, err := Regimes(t.Context(), source(t), smallGrid(), Work{Jobs: 3, Progress: func(done, of int) {
		if done < last[0] || done > of || last[1] != 0 && of != last[1] {
			t.Errorf("%d of %d runs are done after %v", done, of, last)
		}
		last = [2]int{done, of}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if last[0] != last[1] || last[1] != 4+4*2*3*5 {
		t.Errorf("at the end %d of %d runs are done", last[0], last[1])
	}
	golden(t, "regimes.txt", written(t, m.Write))
	if err := m.Markdown(&out); err != nil {
		t.Fatal(err)
	}
	golden(t, "regimes.md", out.Bytes())
	out.Reset()
	again, err := Regimes(t.Context(), source(t), smallGrid(), Work{Jobs: 1})
	if err := errors.Join(err, m.JSON(&out), again.JSON(&one)); err != nil {
		t.Fatal(err)
	}
	if out.String() != one.String() {
		t.Error("one run at a time gives another map")
	}
	for _, p := range m.pictures() {
		for line := range strings.Lines(p) {
			if n := utf8.RuneCountInString(line) - 1; n > mapWidth {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
}

// TestDefaultMapFits holds that the tables of the default map fit a terminal, whatever
// is in them.
func TestDefaultMapFits(t *testing.T) {
	m := &Map{Grid: DefaultGrid(), Statistics: mapStatistics()}
	for _, u := range m.Grid.setups() {
		for range len(m.Grid.Loads) * len(m.Grid.Budgets) {
			m.Cells = append(m.Cells, Cell{Share: u.share, Length: u.length, Changes: make([]analysis.Change, len(m.Statistics)),
				Goodput: &analysis.ShareChange{}, Rules: ruled()})
		}
	}
	for i := range m.Cells { // as wide as they get
		c := &m.Cells[i]
		for k := range c.Rules {
			c.Rules[k].Off, c.Rules[k].On, c.Rules[k].Predicted, c.Rules[k].Found = 0.1, 0.1, analysis.Better, analysis.Worse
		}
		c.Changes[itl999].Base, c.Changes[itl999].Run = 900*sim.Millisecond, 1000*sim.Millisecond
	}
	for _, table := range append(m.pictures(), m.totals(), m.ruleTable(), m.exceptionTable()) {
		for line := range strings.Lines(table) {
			if n := utf8.RuneCountInString(line) - 1; n > mapWidth {
				t.Errorf("%d columns: %s", n, line)
			}
		}
	}
}

// TestCellsDoNotDependOnOthers holds that a cell of a map is that of a map of it
// alone, so that a part of a map can be checked without the rest.
func TestCellsDoNotDependOnOthers(t *testing.T) {
	whole, err := Regimes(t.Context(), source(t), smallGrid(), Work{Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	g := smallGrid()
	g.Shares, g.Lengths, g.Loads, g.Budgets = g.Shares[1:], g.Lengths[:1], g.Loads[1:], g.Budgets[1:]
	part, err := Regimes(t.Context(), source(t), g, Work{Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	one := &part.Cells[0]
	for i := range whole.Cells {
		c := &whole.Cells[i]
		if c.Share != one.Share || c.Length != one.Length || c.Load != one.Load || c.Budget != one.Budget {
			continue
		}
		for k := range c.Changes {
			if c.Changes[k] != one.Changes[k] {
				t.Errorf("%s: %+v, alone %+v", whole.Statistics[k].Title(), c.Changes[k], one.Changes[k])
			}
		}
		return
	}
	t.Error("the cell isn't there")
}

// TestCapacityIsWhereQueuesGrow holds that a queue doesn't grow below the measured
// capacity, and does above it.
func TestCapacityIsWhereQueuesGrow(t *testing.T) {
	p, err := scenario.Load(source(t))
	if err != nil {
		t.Fatal(err)
	}
	u, k := &setup{share: 0.05, length: 8000}, kindsOf(&p.Scenario.Workload.Spec)
	rate, err := capacity(t.Context(), source(t), u, k)
	if err != nil {
		t.Fatal(err)
	}
	if warm, err := capacity(t.Context(), source(t, "run.warmup=60s"), u, k); err != nil || warm != rate {
		t.Errorf("with a warm-up the capacity is %v, without %v: %v", warm, rate, err)
	}
	for factor, grows := range map[float64]bool{0.85: false, 1.15: true} {
		j := job{source: source(t), change: u.draws(k, rate*factor, 20_000), statistics: Statistics()}
		m, err := j.measure(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if m.Overloaded != grows {
			t.Errorf("at %v of %v requests/s the queue grows: %v", factor, rate, m.Overloaded)
		}
	}
}

// TestRegimesFaults holds what is said of grids and scenarios of which no map can be
// drawn.
func TestRegimesFaults(t *testing.T) {
	grid := func(change func(*Grid)) Grid {
		g := smallGrid()
		change(&g)
		return g
	}
	for want, c := range map[string]struct {
		src  scenario.Source
		grid Grid
	}{
		"a share of long prompts of 0 %":         {source(t), grid(func(g *Grid) { g.Shares[0] = 0 })},
		"a share of long prompts of 100 %":       {source(t), grid(func(g *Grid) { g.Shares[1] = 1 })},
		"long prompts of 0 tokens":               {source(t), grid(func(g *Grid) { g.Lengths[0] = 0 })},
		"a load of 120 %":                        {source(t), grid(func(g *Grid) { g.Loads[1] = 1.2 })},
		"a budget of -1 tokens":                  {source(t), grid(func(g *Grid) { g.Budgets[0] = -1 })},
		"must ascend":                            {source(t), grid(func(g *Grid) { g.Budgets[1] = 512 })},
		"need a value each":                      {source(t), grid(func(g *Grid) { g.Loads = nil })},
		"found 99 requests of a run":             {source(t), grid(func(g *Grid) { g.Requests = 99 })},
		"found 4 seeds":                          {source(t), grid(func(g *Grid) { g.Seeds = 4 })},
		"don't fit max_model_len, 32768":         {source(t), grid(func(g *Grid) { g.Lengths[1] = 32768 })},
		"replays a trace or merges":              {source(t, "workload.merge=[{requests=5, arrival={process=\"poisson\",rate_per_s=1}, prompt={dist=\"constant\",value=5}, output={dist=\"constant\",value=5}}]"), smallGrid()},
		"max_num_seqs: found 1024, more than":    {source(t, "max_num_seqs=1024"), smallGrid()},
		"take a scenario with arrival, not clos": {closedLoop(t), smallGrid()},
	} {
		_, err := Regimes(t.Context(), c.src, c.grid, Work{Jobs: 2})
		var usage *scenario.UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v; want a fault of usage with %q", err, want)
		}
	}
}

// closedLoop is the scenario with users who wait.
func closedLoop(t *testing.T) scenario.Source {
	src := source(t)
	src.Content = strings.Replace(text, `arrival = { process = "poisson", rate_per_s = 8 }`, "closed_loop = { users = 3 }", 1)
	return src
}

// TestGradientGolden pins a gradient, which doesn't depend on how many runs are under
// way at once.
func TestGradientGolden(t *testing.T) {
	g, err := Gradients(t.Context(), source(t, "max_num_batched_tokens=2048"), 5, Work{Jobs: 3})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "gradient.txt", written(t, g.Write))
	golden(t, "gradient.json", written(t, g.JSON))
	again, err := Gradients(t.Context(), source(t, "max_num_batched_tokens=2048"), 5, Work{Jobs: 1})
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(written(t, g.JSON), written(t, again.JSON)) {
		t.Error("one run at a time gives another gradient")
	}
}

// TestKnobsThatCannotTurn holds that each is there with the reason.
func TestKnobsThatCannotTurn(t *testing.T) {
	g, err := Gradients(t.Context(), source(t, "enable_chunked_prefill=false", "requests=60", "num_gpu_blocks_override=2100"), 2, Work{Jobs: 2})
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]string{}
	for _, k := range g.Knobs {
		reasons[k.Name] = k.Reason
		if (k.Reason == "") != (len(k.Changes) > 0) {
			t.Errorf("%s: reason %q and %d changes", k.Name, k.Reason, len(k.Changes))
		}
	}
	for name, want := range map[string]string{
		"max_num_batched_tokens 16,384": "is from 32,768 to",
		"max_num_batched_tokens 65,536": "",
		"tensor_parallel_size":          "no fewer than 1",
		"replicas":                      "none less than 1",
		"enable_chunked_prefill true":   "",
	} {
		if r, there := reasons[name]; !there || !strings.Contains(r, want) || (want == "") != (r == "") {
			t.Errorf("%s: reason %q, want %q; knobs %v", name, r, want, reasons)
		}
	}
}

// TestPairFaults holds what is no pair.
func TestPairFaults(t *testing.T) {
	for want, b := range map[string]scenario.Source{
		"have other requests, in seed":          source(t, "seed=8"),
		"have other requests, in seed, workloa": source(t, "requests=200"),
		"goodput can be compared only under":    source(t, "goodput=ttft:100"),
		"engine.policy":                         source(t, "policy=vllm@9"),
	} {
		_, err := Compare(t.Context(), []scenario.Source{source(t), b}, []string{"a", "b"}, 5, Work{Jobs: 2})
		var usage *scenario.UsageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v; want a fault of usage with %q", err, want)
		}
	}
}
