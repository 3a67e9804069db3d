package fit

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// table is a CSV file with a header, which is read row by row.
type table struct {
	name    string
	columns map[string]int
	rows    [][]string
	lines   []int
	faults  []error
}

// maxFaults is the number of faults of a table that are told.
const maxFaults = 20

// readTable reads the table called name, which must have the columns of want.
func readTable(name string, r io.Reader, want ...string) (*table, error) {
	c := csv.NewReader(r)
	header, err := c.Read()
	if err != nil {
		return nil, fmt.Errorf("reading the kernel table %s: %w", name, err)
	}
	t := &table{name: name, columns: map[string]int{}}
	for i, h := range header {
		t.columns[h] = i
	}
	var missing []string
	for _, w := range want {
		if _, ok := t.columns[w]; !ok {
			missing = append(missing, w)
		}
	}
	if missing != nil {
		return nil, fmt.Errorf("%s:1: has no column %s; a kernel table of this kind has the columns %s", name, strings.Join(missing, ", "), strings.Join(want, ", "))
	}
	for {
		row, err := c.Read()
		if errors.Is(err, io.EOF) {
			return t, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading the kernel table %s: %w", name, err)
		}
		line, _ := c.FieldPos(0)
		t.rows, t.lines = append(t.rows, row), append(t.lines, line)
	}
}

// text returns a cell of row i.
func (t *table) text(i int, column string) string { return t.rows[i][t.columns[column]] }

// count returns a cell of row i that holds a whole number of least or more.
func (t *table) count(i int, column string, least int64) int64 {
	text := t.text(i, column)
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < least {
		t.fault(i, column, text, fmt.Sprintf("a whole number, at least %d", least))
	}
	return n
}

// seconds returns a cell of row i that holds microseconds, more than 0.
func (t *table) seconds(i int, column string) float64 {
	text := t.text(i, column)
	us, err := strconv.ParseFloat(text, 64)
	if err != nil || !(us > 0 && us < 1e12) {
		t.fault(i, column, text, "microseconds, more than 0")
	}
	return us / 1e6
}

func (t *table) fault(i int, column, found, want string) {
	if len(t.faults) < maxFaults {
		t.faults = append(t.faults, fmt.Errorf("%s:%d: %s is %q; want %s", t.name, t.lines[i], column, found, want))
	}
}

// err joins what is wrong with the cells that were read.
func (t *table) err() error { return errors.Join(t.faults...) }
