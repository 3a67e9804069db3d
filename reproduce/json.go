package reproduce

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// jsonSchema is the version of the JSON that this package writes.
const jsonSchema = 1

// A documentJSON is results for programs.
type documentJSON struct {
	Schema    int         `json:"schema"`
	Kind      string      `json:"kind"`
	Rule      string      `json:"rule"`
	Tolerance float64     `json:"tolerance_share"`
	Claims    []claimJSON `json:"claims"`
}

// A claimJSON is a Result.
type claimJSON struct {
	Name        string        `json:"name"`
	Says        string        `json:"says"`
	Source      string        `json:"source"`
	Setup       string        `json:"setup"`
	Verdict     Verdict       `json:"verdict"`
	Explanation string        `json:"explanation"`
	Stale       bool          `json:"explanation_is_stale"`
	Checks      []findingJSON `json:"checks"`
	Facts       []findingJSON `json:"facts"`
}

// A findingJSON is a Finding. Ends of ranges that are infinite are null.
type findingJSON struct {
	Name   string   `json:"name,omitempty"`
	Says   string   `json:"says"`
	Of     string   `json:"of"`
	Column string   `json:"column"`
	Over   string   `json:"over,omitempty"`
	Claim  string   `json:"claimed"`
	From   *float64 `json:"from"`
	To     *float64 `json:"to"`
	Value  *float64 `json:"value"`
	Lo     *float64 `json:"lo"`
	Hi     *float64 `json:"hi"`
	Exact  bool     `json:"exact"`
	Runs   int64    `json:"runs"`
	Met    Outcome  `json:"met"`
}

// JSON writes results for programs. The only errors are those of w.
func JSON(w io.Writer, results []*Result) error {
	d := documentJSON{Schema: jsonSchema, Kind: "servesim-claims", Rule: Rule(), Tolerance: Tolerance, Claims: []claimJSON{}}
	for _, r := range results {
		d.Claims = append(d.Claims, claimJSON{
			r.Name, oneLine(r.Says), oneLine(r.Source), oneLine(r.Setup), r.Verdict, oneLine(r.Explanation), r.Stale,
			findingsJSON(r.Checks), findingsJSON(r.Facts),
		})
	}
	b, err := json.MarshalIndent(d, "", "  ")
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

// findingsJSON returns findings.
func findingsJSON(list []Finding) []findingJSON {
	out := []findingJSON{}
	for i := range list {
		f := &list[i]
		out = append(out, findingJSON{
			f.Name, f.Says, f.Of, f.Column, f.Over, f.Range.String(), finite(f.Range.Lo), finite(f.Range.Hi),
			finite(f.Value), finite(f.Lo), finite(f.Hi), f.Exact(), f.Runs, f.Outcome,
		})
	}
	return out
}

// finite is x, or nil of what has no JSON.
func finite(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
