package validate

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// columns are the columns that a table must have beside those of the metrics.
func columns() []string {
	return []string{
		"id", "split", "note", "model", "gpu", "tp", "ep", "weight_dtype", "kv_dtype", "engine", "engine_version",
		"load", "isl", "osl", "len_dist", "concurrency", "rate_rps", "num_requests", "max_batched_tokens", "ttft_ok", "source",
	}
}

// maxFaults is the most faults of a table that are told.
const maxFaults = 20

// reader takes fields of one line and collects what is wrong with them.
type reader struct {
	file   string
	at     map[string]int // index by name of column
	line   int
	fields []string
	faults []error
}

// Read reads a table of measured runs, comma-separated with a header; name is
// what errors call it. Columns may stand in any order and others may stand
// among them. The error joins the first 20 faults, each with its line and column.
func Read(r io.Reader, name string) ([]Row, error) {
	c := csv.NewReader(r)
	header, err := c.Read()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: empty; it must begin with a header line of column names", name)
	} else if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	d := &reader{file: name, at: make(map[string]int, len(header))}
	if err := d.columns(header); err != nil {
		return nil, err
	}
	var rows []Row
	seen := map[string]int{}
	for {
		d.fields, err = c.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil && !errors.Is(err, csv.ErrFieldCount) {
			return nil, errors.Join(append(d.faults, fmt.Errorf("%s: %w", name, err))...)
		}
		d.line, _ = c.FieldPos(0)
		if err != nil {
			d.faults = append(d.faults, fmt.Errorf("%s: line %d: found %d fields; give it %d, one for each column of the header", name, d.line, len(d.fields), len(header)))
			continue
		}
		row := d.row()
		if at, ok := seen[row.ID]; ok {
			d.fault("id", "found %q, the id of line %d; give each row its own", row.ID, at)
		}
		seen[row.ID] = d.line
		rows = append(rows, row)
	}
	if len(rows) == 0 && len(d.faults) == 0 {
		return nil, fmt.Errorf("%s: no rows after the header; give one line for each measured run", name)
	}
	if len(d.faults) > maxFaults {
		more := len(d.faults) - maxFaults
		d.faults = append(d.faults[:maxFaults], fmt.Errorf("%s: and %d faults more", name, more))
	}
	return rows, errors.Join(d.faults...)
}

// columns notes where the columns of header stand. The error names those that
// stand there twice or not at all.
func (d *reader) columns(header []string) error {
	for i, h := range header {
		h = strings.TrimSpace(h)
		if at, ok := d.at[h]; ok && h != "" {
			return fmt.Errorf("%s: line 1: column %s stands in the header twice, as columns %d and %d; keep one", d.file, h, at+1, i+1)
		}
		d.at[h] = i
	}
	return d.missing()
}

// missing returns a fault that names every column that is not there.
func (d *reader) missing() error {
	var lacks []string
	for _, c := range columns() {
		if _, ok := d.at[c]; !ok {
			lacks = append(lacks, c)
		}
	}
	some := false
	for _, m := range Metrics() {
		_, ok := d.at[m.String()]
		some = some || ok
	}
	if !some {
		lacks = append(lacks, "at least one metric, such as "+TPOTMean.String())
	}
	if len(lacks) == 0 {
		return nil
	}
	return fmt.Errorf("%s: line 1: the header lacks %s; a column may be empty, but it must be there", d.file, strings.Join(lacks, ", "))
}

// row reads the line's row.
func (d *reader) row() Row {
	r := Row{
		Line: d.line, ID: d.text("id"), Note: d.text("note"), Source: d.text("source"),
		Split: Split(d.text("split")), Model: d.text("model"), GPU: d.text("gpu"),
		Engine: d.text("engine"), Version: d.text("engine_version"),
		TP: int(d.whole("tp")), EP: int(d.whole("ep")),
		Weights: d.text("weight_dtype"), KV: d.text("kv_dtype"),
		Load: Load(d.text("load")), Prompt: d.whole("isl"), Output: d.whole("osl"), Lengths: d.text("len_dist"),
		Concurrency: d.whole("concurrency"), Rate: d.text("rate_rps"), Requests: d.whole("num_requests"),
		MaxNumBatchedTokens: d.whole("max_batched_tokens"),
	}
	if r.ID == "" {
		d.fault("id", "empty; give each row a name")
	}
	switch r.Split {
	case Calibration, HeldOut, Excluded:
	default:
		d.fault("split", "found %q; it must be calibration, heldout or excluded", r.Split)
	}
	switch t := d.text("ttft_ok"); t {
	case "0", "":
	case "1":
		r.TTFTTrusted = true
	default:
		d.fault("ttft_ok", "found %q; it must be 1 if the source's TTFT is to be trusted, else 0", t)
	}
	d.rate(r.Rate)
	for _, m := range Metrics() {
		if _, ok := d.at[m.String()]; ok {
			r.Measured[m] = d.number(m.String(), 1e12)
		}
	}
	return r
}

// text returns a field without the space about it.
func (d *reader) text(column string) string { return strings.TrimSpace(d.fields[d.at[column]]) }

// number returns a field that is a number above 0 and at most most, or empty,
// which is 0.
func (d *reader) number(column string, most float64) float64 {
	t := d.text(column)
	if t == "" {
		return 0
	}
	v, err := strconv.ParseFloat(t, 64)
	if err != nil || !(v >= 0 && v <= most) {
		d.fault(column, "found %q; it must be empty or a number from 0 to %.0f", t, most)
		return 0
	}
	return v
}

// rate notes a fault if rate is no rate of arrivals: empty, a number above 0, or
// several of them with / between, of a run in stages.
func (d *reader) rate(rate string) {
	if rate == "" {
		return
	}
	for _, one := range strings.Split(rate, "/") {
		if v, err := strconv.ParseFloat(one, 64); err != nil || !(v > 0 && v <= 1e12) {
			d.fault("rate_rps", "found %q; it must be empty or a number of requests a second above 0, those of a run in stages with / between them", rate)
			return
		}
	}
}

// whole returns a field that is a whole number, or empty, which is 0.
func (d *reader) whole(column string) int64 {
	v := d.number(column, math.MaxInt32)
	if v != math.Trunc(v) {
		d.fault(column, "found %q; it must be a whole number", d.text(column))
	}
	return int64(v)
}

// fault notes that a field of the line is wrong.
func (d *reader) fault(column, format string, args ...any) {
	d.faults = append(d.faults, fmt.Errorf("%s: line %d: column %s: %s", d.file, d.line, column, fmt.Sprintf(format, args...)))
}
