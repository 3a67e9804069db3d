package figure

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
)

// A Table is the results of runs that differ in some keys: of a sweep, or those at the
// rates around a capacity.
type Table struct {
	// Name says where it is from.
	Name string `json:"name"`
	// Axes are the keys in which rows differ, in full.
	Axes []string `json:"axes"`
	Rows []Row    `json:"rows"`
	// Marks are values of the first axis that are to be marked, such as a capacity.
	Marks []Mark `json:"marks,omitempty"`
}

// A Row is the result of one run.
type Row struct {
	// Axes are the values of the axes of the table; "" is the scenario's own.
	Axes []string `json:"axes"`
	// Values are the numbers of the columns that have data, under the names that the
	// tables of sweeps have for them.
	Values map[string]float64 `json:"values"`
}

// rateKey is the key of scenarios with the rate of requests.
const rateKey = "workload.rate_per_s"

// ReadTable reads the results.json of a sweep, or what "servesim capacity --json" wrote,
// from r, which errors call file.
func ReadTable(r io.Reader, file string) (*Table, error) {
	text, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	var head struct {
		Schema int    `json:"schema"`
		Kind   string `json:"kind"`
	}
	if err := json.Unmarshal(text, &head); err != nil {
		return nil, fmt.Errorf("%s: is not JSON: %w; give the results.json of a sweep, or what servesim capacity --json wrote", file, err)
	}
	read := map[string]func([]byte) (*Table, error){"servesim-sweep-results": readSweep, "servesim-capacity": readCapacity}[head.Kind]
	if read == nil || head.Schema != 1 {
		return nil, fmt.Errorf("%s: found kind %q of schema %d; give the results.json of a sweep (servesim-sweep-results, schema 1), or what servesim capacity --json wrote (servesim-capacity, schema 1)", file, head.Kind, head.Schema)
	}
	t, err := read(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	t.Name = file
	return t, nil
}

// readSweep reads the results of a sweep.
func readSweep(text []byte) (*Table, error) {
	var in struct {
		Axes    []string                     `json:"axes"`
		Columns []string                     `json:"columns"`
		Points  []map[string]json.RawMessage `json:"points"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, err
	}
	t := &Table{Axes: in.Axes}
	for i, p := range in.Points {
		row := Row{Values: map[string]float64{}}
		for _, a := range in.Axes {
			value, err := plain(p[a])
			if err != nil {
				return nil, fmt.Errorf("point %d: %s: %w", i+1, a, err)
			}
			row.Axes = append(row.Axes, value)
		}
		for _, c := range in.Columns {
			var x *float64
			if raw, ok := p[c]; ok && raw[0] != '"' { // what is said in words has no place on an axis
				if err := json.Unmarshal(raw, &x); err != nil {
					return nil, fmt.Errorf("point %d: %s: %w", i+1, c, err)
				}
			}
			if x != nil {
				row.Values[c] = *x
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

// plain returns a value of JSON as text.
func plain(raw json.RawMessage) (string, error) {
	if len(raw) == 0 || string(raw) == "null" {
		return "", nil
	}
	if raw[0] == '"' {
		var s string
		err := json.Unmarshal(raw, &s)
		return s, err
	}
	return string(raw), nil
}

// readCapacity reads the rates around a capacity.
func readCapacity(text []byte) (*Table, error) {
	type trial struct {
		Rate    float64     `json:"requests_per_s"`
		TTFT    [3]*float64 `json:"ttft_p50_p90_p99_ms"`
		TPOT    [3]*float64 `json:"tpot_p50_p90_p99_ms"`
		Goodput *float64    `json:"goodput_share"`
		Count   float64     `json:"requests"`
	}
	var in struct {
		Rate  float64  `json:"requests_per_s"`
		Lo    *float64 `json:"low_requests_per_s"`
		Hi    *float64 `json:"high_requests_per_s"`
		Table []trial  `json:"table"`
	}
	if err := json.Unmarshal(text, &in); err != nil {
		return nil, err
	}
	t := &Table{Axes: []string{rateKey}, Marks: []Mark{
		{Kind: Limit, Label: "capacity " + number(in.Rate) + " requests/s", On: "x", Value: in.Rate, Index: -1},
	}}
	for _, one := range in.Table {
		row := Row{Axes: []string{strconv.FormatFloat(one.Rate, 'g', -1, 64)}, Values: map[string]float64{"requests": one.Count}}
		set := func(name string, x *float64) {
			if x != nil {
				row.Values[name] = *x
			}
		}
		for i, p := range []string{"p50", "p90", "p99"} {
			set("ttft_"+p+"_ms", one.TTFT[i])
			set("tpot_"+p+"_ms", one.TPOT[i])
		}
		set("goodput_share", one.Goodput)
		if one.Goodput != nil {
			row.Values["goodput_requests_per_s"] = *one.Goodput * one.Rate
		}
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

// axis returns the index of the first axis whose name, or its last part, is name.
func (t *Table) axis(name string) (int, bool) {
	for i, a := range t.Axes {
		if a == name || a[strings.LastIndexByte(a, '.')+1:] == name {
			return i, true
		}
	}
	return 0, false
}

// Where keeps the rows whose axes have the values that conditions say, each of them
// KEY=VALUE. It is an error if there is no such axis, or no such row.
func (t *Table) Where(conditions []string) (*Table, error) {
	kept := *t
	for _, c := range conditions {
		key, value, ok := strings.Cut(c, "=")
		i, known := t.axis(key)
		if !ok || !known {
			return nil, fmt.Errorf("%s: found condition %q; write KEY=VALUE with a key in which the points differ: %s", t.Name, c, strings.Join(t.Axes, ", "))
		}
		var have []string
		var rows []Row
		for _, r := range kept.Rows {
			have = append(have, r.Axes[i])
			if r.Axes[i] == value {
				rows = append(rows, r)
			}
		}
		if len(rows) == 0 {
			slices.Sort(have)
			return nil, fmt.Errorf("%s: no point has %s; there are %s", t.Name, c, strings.Join(slices.Compact(have), ", "))
		}
		kept.Rows = rows
	}
	return &kept, nil
}

// A group is rows that differ in one axis only.
type group struct {
	name string
	rows []Row
}

// mostGroups is the most lines that a reader tells apart by colour.
const mostGroups = 8

// groups divides the rows by the values of all axes but those of except, in the order
// in which they come. It is an error if there are too many to tell apart.
func (t *Table) groups(kind string, except ...int) ([]group, error) {
	var list []group
	at := map[string]int{}
	named := t.naming(except)
	for _, r := range t.Rows {
		var words []string
		for i, v := range r.Axes {
			if !slices.Contains(except, i) {
				words = append(words, t.Axes[i]+"="+v)
			}
		}
		key := strings.Join(words, "\x00")
		k, ok := at[key]
		if !ok {
			k = len(list)
			at[key] = k
			var name []string
			for _, i := range named {
				a := t.Axes[i]
				name = append(name, a[strings.LastIndexByte(a, '.')+1:]+" "+cmp.Or(r.Axes[i], "default"))
			}
			list = append(list, group{name: strings.Join(name, ", ")})
		}
		list[k].rows = append(list[k].rows, r)
	}
	if len(list) > mostGroups {
		return nil, fmt.Errorf("%s: %s of %d lines can't be read; choose with --where KEY=VALUE from %s until %d or fewer are left", t.Name, kind, len(list), strings.Join(t.Axes, ", "), mostGroups)
	}
	return list, nil
}

// naming returns the axes but except that name a group: those that differ, and not
// just as an earlier one does.
func (t *Table) naming(except []int) []int {
	var list []int
	for i := range t.Axes {
		if slices.Contains(except, i) || t.follows(i, -1) {
			continue
		}
		if !slices.ContainsFunc(list, func(k int) bool { return t.follows(i, k) }) {
			list = append(list, i)
		}
	}
	return list
}

// follows tells whether the value of axis i follows from that of axis k, or is the
// same in all rows if that is -1.
func (t *Table) follows(i, k int) bool {
	seen := map[string]string{}
	for _, r := range t.Rows {
		key := ""
		if k >= 0 {
			key = r.Axes[k]
		}
		if was, ok := seen[key]; ok && was != r.Axes[i] {
			return false
		}
		seen[key] = r.Axes[i]
	}
	return true
}
