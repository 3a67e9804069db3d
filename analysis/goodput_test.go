package analysis

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"servesim/sim"
	"servesim/sim/observe"
)

// wanted reads what users must get.
func wanted(t interface{ Fatal(...any) }, text string) SLO {
	s, err := ParseSLO(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestParseSLO(t *testing.T) {
	ms := sim.Millisecond
	p99, p999 := Percentile{990_000_000}, Percentile{999_000_000}
	for text, want := range map[string]SLO{
		"ttft:500 tpot:15 e2el:2000.5 maxgap:0.000000001": {Goodput: Goodput{
			{Objective: TTFT, Max: 500 * ms}, {Objective: TPOT, Max: 15 * ms}, {Objective: E2EL, Max: 2000*ms + 500*sim.Microsecond}, {Objective: MaxGap, Max: 1},
		}},
		"ttft<=0.5s,tpot < 15 ms\n\n max_itl <= 200000us": {Goodput: Goodput{
			{Objective: TTFT, Max: 500 * ms}, {Objective: TPOT, Max: 15 * ms, Strict: true}, {Objective: MaxGap, Max: 200 * ms},
		}},
		"e2e <= 3s for outputs below 300 tokens and queue ≤ 500µs for class chat or \"long docs\";": {Goodput: Goodput{
			{Objective: E2EL, Max: 3000 * ms, Scope: Scope{Below: 300}},
			{Objective: Queue, Max: 500 * sim.Microsecond, Scope: Scope{Classes: []string{"chat", "long docs"}}},
		}},
		"ttft p99 <= 800ms, itl p99.9 < 100ms, e2e median <= 3s except class batch for outputs > 99 <= 300, goodput >= 99.5%": {
			Run: []RunLimit{
				{p99, Limit{Objective: TTFT, Max: 800 * ms}}, {p999, Limit{Objective: ITL, Max: 100 * ms, Strict: true}},
				{Percentile{500_000_000}, Limit{Objective: E2EL, Max: 3000 * ms, Scope: Scope{Classes: []string{"batch"}, Except: true, From: 100, Below: 301}}},
			},
			MinGoodput: &Percentile{995_000_000},
		},
	} {
		got, err := ParseSLO(text)
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(Percentile{})); diff != "" || err != nil {
			t.Errorf("%q: %v\n%s", text, err, diff)
		}
		if back, err := ParseSLO(got.String()); err != nil || back.String() != got.String() {
			t.Errorf("%q reads back as %q, %v", got.String(), back.String(), err)
		}
	}
}

// Each wrong text has its column, what was found and what is allowed.
func TestParseSLOFaults(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "no limit is given",
		" , ;\n":                                 "no limit is given",
		"ttft":                                   `column 5: found the end after ttft; times are limited from above: write <= or <`,
		"ttft >= 5ms":                            `column 6: found ">=" after ttft`,
		"ttft <= 500":                            "column 9: 500 has no unit; write 500ms or 500s (the units are s, ms and us)",
		"ttft <= 500 for class a":                "column 9: 500 has no unit",
		"ttft <= 5sec":                           `column 10: unknown unit "sec"; did you mean "s"?`,
		"ttft <= ms":                             `column 9: found "ms" in the place of a time`,
		"ttft <= -5ms":                           `column 9: found "-" in the place of a time`,
		"ttft < 0ms":                             "column 6: nothing is below 0",
		"ttft <= 1.2.3ms":                        "column 9: ",
		"ttft <= 99999999999s":                   "longer than the 106 days",
		"ttft:0.0000000001":                      "column 6: ",
		"TTFT <= 5ms":                            `column 1: unknown metric "TTFT"; did you mean "ttft"?`,
		"latency <= 5ms":                         `column 1: unknown metric "latency"; allowed are ttft, queue, tpot, max_gap, e2e, itl, goodput`,
		"inter_token_latency:3":                  `unknown metric "inter_token_latency"; it is called tpot here`,
		"itl <= 5ms":                             "column 1: itl is every gap of the run; limit a percentile of it",
		"itl:5":                                  "column 1: itl is every gap of the run",
		"itl p99 <= 5ms for class a":             "it can't be limited for class a",
		"ttft P99 <= 5ms":                        `column 6: "P99" is no percentile; allowed are p0 to p100`,
		"ttft p101 <= 5ms":                       `column 6: "p101" is no percentile`,
		"ttft mean <= 5ms":                       `column 6: "mean" is no percentile`,
		"ttft:-5":                                `column 6: found "-"; KEY:NUMBER takes a number of milliseconds, at least 0, such as ttft:500`,
		"ttft:NaN":                               `found "NaN"; KEY:NUMBER takes`,
		"ttft:":                                  "column 6: found the end; KEY:NUMBER takes",
		"ttft:500ms":                             "column 9: KEY:NUMBER is in milliseconds and takes no unit, as in vLLM; write ttft <= 500ms",
		"ttft:5 x":                               `column 8: found "x" behind a limit`,
		"ttft:5 ttft:6":                          "column 8: ttft is given twice, first at column 1",
		"ttft <= 5ms tpot <= 3ms":                `column 13: found "tpot" behind a limit; separate limits by commas`,
		"ttft <= 5ms for users a":                `column 17: found "users" after for; allowed are for class NAME, except class NAME and for outputs below N tokens`,
		"ttft <= 5ms for class":                  "column 22: found the end in the place of a class",
		"ttft <= 5ms for class a or a":           "column 28: class a is named twice",
		"ttft <= 5ms for class a except class b": "a limit names classes once",
		"e2e <= 3s for outputs":                  "column 22: found the end after outputs; write below N, from N, or both",
		"e2e <= 3s for outputs below many":       `column 29: found "many" in the place of a number of tokens`,
		"e2e <= 3s for outputs below 0 tokens":   "a whole number of 1 or more",
		"e2e <= 3s for outputs from 300 below 300": "no output has from 300 to below 300 tokens",
		"e2e <= 3s for outputs below 3 below 4":    "bounded twice from the same side",
		"goodput <= 99 %":                          `column 9: found "<=" after goodput; it is the least share of good requests`,
		"goodput >= 0.99":                          `column 12: found "0.99"; the share of good requests is a percentage`,
		"goodput >= 101 %":                         "percentage from 0 to 100",
		"= 5ms":                                    `column 1: found "=" where a limit begins`,
		"ttft <= 5ms\n, \n  tpot <= 6":             "line 3, column 11: 6 has no unit",
		"x:1 ttft:-1 tpot:2":                       "column 1: unknown metric \"x\"",
	} {
		if s, err := ParseSLO(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q gave %q, %v; want an error with %q", text, s.String(), err, want)
		}
	}
	_, err := ParseSLO("x:1 ttft:-1 tpot:2, e2e p99 <= 5, goodput > 5%, queue <= 3ms for class 5")
	if n := len(strings.Split(fmt.Sprint(err), "\n")); n != 5 {
		t.Errorf("%d faults told, want 5:\n%v", n, err)
	}
}

func FuzzParseSLO(f *testing.F) {
	for _, s := range []string{
		"ttft:500 tpot:15 e2el:2000", "maxgap:0.5", "ttft:1e3", "ttft:5,tpot:3", "ttft::", "ttft:.", "ttft p99.9 <= 5ms for class \"a\\n\" or b",
		"e2e < 3s except class x for outputs from 1 below 300 tokens and goodput >= 99.9 %", "itl max ≤ 1µs", "ttft <= 5ms for outputs <= 2147483646",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		g, err := ParseSLO(s)
		if err != nil {
			return
		}
		back, err := ParseSLO(g.String())
		if diff := cmp.Diff(g, back, cmp.AllowUnexported(Percentile{})); err != nil || diff != "" {
			t.Fatalf("%q is %q, which is %q, %v\n%s", s, g.String(), back.String(), err, diff)
		}
	})
}

// Every objective has a name that reads back, alone and at a percentile.
func TestObjectivesReadBack(t *testing.T) {
	for _, o := range Objectives() {
		for _, name := range objectiveNames()[o] {
			s := wanted(t, name+" p90 < 7ms")
			if l := s.Run[0]; l.Objective != o || !l.Strict || l.Max != 7*sim.Millisecond || l.String() != o.String()+" p90 < 7ms" {
				t.Errorf("%s reads as %+v", name, l)
			}
		}
	}
}

// The presets read, and their limits are those of the files.
func TestSLOPresets(t *testing.T) {
	list, err := SLOPresets()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range list {
		if p.Description == "" || strings.HasPrefix(p.Description, "schema") || p.SLO.Empty() {
			t.Errorf("%+v", p)
		}
		if found, err := FindSLO(p.Name); err != nil || found.SLO.String() != p.SLO.String() {
			t.Errorf("%s: %v, %v", p.Name, found, err)
		}
	}
	if _, err := FindSLO("voise"); err == nil || !strings.Contains(err.Error(), `did you mean "voice"?`) {
		t.Error(err)
	}
	for text, want := range map[string]string{
		"# x\nlimits = []":                       "schema: missing",
		"# x\nschema = 1":                        "limits: missing",
		"# x\nschema = 1\nlimits = ['ttft']\n":   "limits: column 5",
		"# x\nschema = 1\nlimits = []\nmore = 1": "more: unknown key",
		"schema =":                               "x.toml:1",
	} {
		if _, err := parseSLOPreset("x.toml", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// drawRequests draws requests of three classes.
func drawRequests(t *rapid.T, most int) []*observe.Request {
	var list []*observe.Request
	for i := range rapid.IntRange(1, most).Draw(t, "n") {
		r := drawRequest(t, int64(i))
		r.Class = rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "class")
		list = append(list, r)
	}
	return list
}

// A limit takes the place of the one on the same thing, whatever its figure, and
// is added otherwise; MLPerf's are on the run alone, at P99 and strict.
func TestSLOOver(t *testing.T) {
	base := wanted(t, "ttft <= 1s, tpot <= 5ms, e2e <= 3s for outputs below 300 tokens, ttft p99 <= 2s, goodput >= 99 %")
	over := wanted(t, "tpot < 7ms, e2e <= 2s, ttft p90 <= 1s, goodput >= 90%, e2e <= 4s for outputs below 300, ttft p99 <= 3s")
	both := over.Over(base)
	if got, want := both.String(), "ttft <= 1s, tpot < 7ms, e2e <= 4s for outputs below 300 tokens, e2e <= 2s, ttft p99 <= 3s, ttft p90 <= 1s, goodput >= 90 %"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for name, want := range map[string]string{
		"mlperf-llama2-70b-interactive": "ttft p99 < 450ms, tpot p99 < 40ms",
		"mlperf-gpt-oss-120b-server":    "ttft p99 < 3s, tpot p99 < 80ms",
		"tight":                         "ttft <= 300ms, tpot <= 10ms, e2e <= 1.5s",
		"consumer-chat-70b": "ttft <= 800ms, tpot <= 25ms, e2e <= 3s for outputs below 300 tokens, " +
			"ttft p99 <= 800ms, tpot p99 <= 25ms, e2e p99 <= 3s for outputs below 300 tokens, goodput >= 99 %",
	} {
		p, err := FindSLO(name)
		if err != nil || p.SLO.String() != want {
			t.Errorf("%s is %q, %v; want %q", name, p.SLO.String(), err, want)
		}
	}
}
