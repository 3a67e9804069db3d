package publish

import (
	"encoding/json"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"servesim/sim"
	"servesim/sim/observe"
)

// A dashboard is what the test reads of one of Grafana.
type dashboard struct {
	Title, UID    string
	SchemaVersion int
	Templating    struct {
		List []struct {
			Name, Type string
			Query      any
		}
	}
	Panels []struct {
		ID                       int
		Type, Title, Description string
		GridPos                  struct{ X, Y, W, H int }
		FieldConfig              struct{ Defaults struct{ Unit string } }
		Targets                  []struct{ RefID, Expr, LegendFormat string }
	}
}

// TestDashboardUsesWhatIsExported holds that every metric and label that the dashboard
// names is in the text that runs are exported as, and that its panels have a place, a
// unit and a description each.
func TestDashboardUsesWhatIsExported(t *testing.T) {
	text, err := os.ReadFile("../../examples/grafana/vllm.json")
	if err != nil {
		t.Fatal(err)
	}
	var d dashboard
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	if d.Title == "" || d.UID == "" || d.SchemaVersion < 36 || len(d.Panels) < 10 {
		t.Fatalf("%+v", d)
	}
	exported := written(t, "openmetrics", testRun("m"), []any{
		observe.StepRun{Steps: 1, First: sim.Second, Chunks: []observe.Chunk{{Tokens: 5}}, Running: 1},
		observe.Request{Scheduled: 0, First: sim.Time(sim.Second), Last: sim.Time(sim.Second), End: sim.Time(sim.Second), Prompt: 5, Wanted: 1, Output: 1},
	})[0]
	names, labels := map[string]bool{}, map[string]bool{}
	for _, m := range regexp.MustCompile(`(?m)^([a-z0-9_:]+)\{(.*)\} `).FindAllStringSubmatch(exported, -1) {
		names[m[1]] = true
		for _, l := range regexp.MustCompile(`([a-z_]+)="`).FindAllStringSubmatch(m[2], -1) {
			labels[l[1]] = true
		}
	}
	uses := func(expr string) {
		found := regexp.MustCompile(`vllm:[a-z0-9_]+`).FindAllString(expr, -1)
		if found == nil {
			t.Errorf("%q names no metric", expr)
		}
		for _, name := range found {
			if !names[name] {
				t.Errorf("%q: %s isn't exported", expr, name)
			}
		}
		for _, l := range regexp.MustCompile(`([a-z_]+)=~?"|by \(([a-z_]+)\)|, ([a-z_]+)\)$`).FindAllStringSubmatch(expr, -1) {
			if name := l[1] + l[2] + l[3]; !labels[name] {
				t.Errorf("%q: no sample has the label %q", expr, name)
			}
		}
	}
	var variables []string
	for _, v := range d.Templating.List {
		variables = append(variables, v.Name)
		if q, is := v.Query.(map[string]any); is {
			uses(q["query"].(string))
		}
	}
	checkPanels(t, &d, variables, uses)
}

// checkPanels holds what each panel has, and hands on its expressions.
func checkPanels(t *testing.T, d *dashboard, variables []string, uses func(string)) {
	ids, taken := map[int]bool{}, map[[2]int]string{}
	for _, p := range d.Panels {
		if ids[p.ID] || p.Title == "" || p.Description == "" || p.FieldConfig.Defaults.Unit == "" || len(p.Targets) == 0 || !slices.Contains([]string{"timeseries", "heatmap"}, p.Type) {
			t.Errorf("panel %+v", p)
		}
		ids[p.ID] = true
		g := p.GridPos
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				if other := taken[[2]int{x, y}]; other != "" || x >= 24 {
					t.Fatalf("%s lies on %q, or outside", p.Title, other)
				}
				taken[[2]int{x, y}] = p.Title
			}
		}
		var refs []string
		for _, q := range p.Targets {
			uses(q.Expr)
			if slices.Contains(refs, q.RefID) || q.LegendFormat == "" || strings.Count(q.Expr, "(") != strings.Count(q.Expr, ")") {
				t.Errorf("%s: %+v", p.Title, q)
			}
			refs = append(refs, q.RefID)
			for _, v := range regexp.MustCompile(`\$([a-z_]+)`).FindAllStringSubmatch(q.Expr, -1) {
				if !slices.Contains(variables, v[1]) && v[1] != "__rate_interval" {
					t.Errorf("%s: no variable %s", p.Title, v[0])
				}
			}
		}
	}
}
