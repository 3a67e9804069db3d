package sweep

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"servesim/scenario"
	"servesim/sim/observe"
)

// A Table is the results of a sweep, in the order of its plan.
type Table struct {
	Axes   []Axis
	Points []Point
	Rows   []Row // of each point

	pooled []pool // what each row is the mean of; nil if each is that of a point
}

// Missing reports that points of a sweep have no result.
type Missing struct {
	Sweep  *Sweep
	Points []*Point // without a result
}

// Error implements error.
func (e *Missing) Error() string {
	return fmt.Sprintf("%s: %d of %d points are not done, the first is number %d, %s; servesim sweep %s does what is missing",
		e.Sweep.folder, len(e.Points), len(e.Sweep.Points), e.Points[0].Index+1, e.Points[0].Name(), e.Sweep.Plan.File)
}

// Shards returns which of count shards have points that are missing.
func (e *Missing) Shards(count int) []int {
	var list []int
	for _, pt := range e.Points {
		list = append(list, pt.Index%count)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// Merge returns the results of all points. The error is a *Missing if some aren't
// done, and then the table is of those that are.
func (s *Sweep) Merge() (*Table, error) {
	t := &Table{Axes: s.Plan.Axes}
	missing := &Missing{Sweep: s}
	for i := range s.Points {
		pt := &s.Points[i]
		row, err := s.folder.read(pt)
		switch {
		case errors.Is(err, errNoPoint):
			missing.Points = append(missing.Points, pt)
		case err != nil:
			return nil, err
		default:
			t.Points, t.Rows = append(t.Points, *pt), append(t.Rows, row)
		}
	}
	if len(missing.Points) > 0 {
		return t, missing
	}
	return t, nil
}

// The files of the results.
const (
	csvName     = "results.csv"
	jsonName    = "results.json"
	parquetName = "results.parquet"
)

// Write writes the table as CSV, JSON and Parquet into the folder of s and returns
// the paths.
func (s *Sweep) Write(t *Table) ([]string, error) {
	var paths []string
	for _, f := range []struct {
		name  string
		write func(io.Writer) error
	}{{csvName, t.CSV}, {jsonName, t.JSON}, {parquetName, t.Parquet}} {
		path := filepath.Join(string(s.folder), f.name)
		out, err := observe.CreateFile(path)
		if err != nil {
			return nil, err
		}
		if err := f.write(out); err != nil {
			out.Abort()
			return nil, err
		}
		if err := out.Commit(); err != nil {
			return nil, err
		}
		paths = append(paths, path)
	}
	if len(t.Points) == len(s.Points) {
		s.folder.clean()
	}
	return paths, nil
}

// value returns what point pt has of an axis, nil if it has the scenario's own.
func (pt *Point) value(a Axis) any {
	for _, s := range pt.Settings {
		if s.Key == a.Key {
			return s.Value
		}
	}
	return nil
}

// CSV writes the table: a line for each point; what has no data is empty.
func (t *Table) CSV(w io.Writer) error {
	out := csv.NewWriter(w)
	columns := Columns()
	head := []string{"point", "id"}
	for _, a := range t.Axes {
		head = append(head, a.Key)
	}
	head = append(head, "infeasible")
	for _, c := range columns {
		head = append(head, c.Name)
	}
	if err := out.Write(head); err != nil {
		return err
	}
	for i, row := range t.Rows {
		pt := &t.Points[i]
		line := []string{strconv.Itoa(pt.Index + 1), pt.ID}
		for _, a := range t.Axes {
			text := ""
			if v := pt.value(a); v != nil {
				text = scenario.ValueText(v)
			}
			line = append(line, text)
		}
		line = append(line, row.Reason)
		for k, c := range columns {
			line = append(line, row.text(k, c))
		}
		if err := out.Write(line); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// text writes value k of a row exactly, nothing for no data.
func (r *Row) text(k int, c Column) string {
	x := r.at(k)
	word, state := c.word(x)
	switch {
	case math.IsNaN(x):
		return ""
	case state:
		return word
	case c.Whole:
		return strconv.FormatInt(int64(x), 10)
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// Value returns the value of the column with index k in Columns; ok is false if it
// has no data.
func (r *Row) Value(k int) (x float64, ok bool) {
	x = r.at(k)
	return x, !math.IsNaN(x)
}

// at returns value k of a row, NaN if there is none.
func (r *Row) at(k int) float64 {
	if r.Values == nil || math.IsInf(r.Values[k], 0) {
		return math.NaN()
	}
	return r.Values[k]
}

// resultsJSON is the table for programs.
type resultsJSON struct {
	Schema  int      `json:"schema"`
	Kind    string   `json:"kind"`
	Axes    []string `json:"axes"`
	Columns []string `json:"columns"`
	Points  any      `json:"points"` // rows of rowType
}

// JSON writes the table: an object for each point, in which what has no data is null.
func (t *Table) JSON(w io.Writer) error {
	rows, err := t.typed()
	if err != nil {
		return err
	}
	out := resultsJSON{Schema: fileSchema, Kind: "servesim-sweep-results", Columns: ColumnNames(), Points: rows.Interface(), Axes: []string{}}
	for _, a := range t.Axes {
		out.Axes = append(out.Axes, a.Key)
	}
	text, err := json.MarshalIndent(out, "", " ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return err
}

// shortName returns the last part of an axis's key, by which people call it.
func (a Axis) shortName() string { return a.Key[strings.LastIndexByte(a.Key, '.')+1:] }
