package workload

import (
	"bytes"
	"strconv"
	"strings"

	"servesim/internal/exact"
	"servesim/internal/infile"
)

// csvFormat is any CSV file with a header, whose columns Options.Columns names.
// It is never found by content: without names there is nothing to tell it by.
func csvFormat() Format {
	return Format{
		Name:  csvName,
		Title: "any CSV with a header; workload.columns says which columns to read",
		match: func(*sniffed) bool { return false },
		open:  openCSV,
	}
}

// csvRows reads a CSV file. id, session, class and priority are columns, or -1.
type csvRows struct {
	*table
	time, prompt, output         int
	id, session, class, priority int
	unit                         exact.Unit // of the arrivals, unless clock is set
	clock                        *wallClock
	guess                        bool // the first row tells whether there is a clock
	ids                          idSet
	sessions, classes            interner
}

func openCSV(in *lineReader, opt *Options) (rowReader, error) {
	cols := opt.Columns
	if err := cols.check(in.file); err != nil {
		return nil, err
	}
	t, err := openTable(in)
	if err != nil {
		return nil, err
	}
	c := &csvRows{table: t, id: -1, session: -1, class: -1, priority: -1}
	var wants []string
	var places []*int
	for _, want := range []struct {
		name  string
		place *int
	}{
		{cols.Arrival, &c.time}, {cols.Prompt, &c.prompt}, {cols.Output, &c.output},
		{cols.ID, &c.id}, {cols.Session, &c.session}, {cols.Class, &c.class}, {cols.Priority, &c.priority},
	} {
		if name := strings.TrimSpace(want.name); name != "" {
			wants, places = append(wants, name), append(places, want.place)
		}
	}
	found, err := t.needEach(wants...)
	if err != nil {
		return nil, err
	}
	for i, column := range found {
		*places[i] = column
	}
	switch cols.Unit {
	case "":
		c.guess = true
	case "iso":
		c.clock = &wallClock{}
	default:
		c.unit, _ = exact.UnitOf(cols.Unit)
	}
	return c, nil
}

// check returns the fault of columns that cannot be read.
func (c Columns) check(file string) error {
	f := &Fault{File: file, Field: "workload.columns"}
	if c.Arrival == "" || c.Prompt == "" || c.Output == "" {
		f.Found, f.Want = "no name for the arrival, the prompt or the output", "the names of all three"
		return f
	}
	if _, ok := exact.UnitOf(c.Unit); !ok && c.Unit != "" && c.Unit != "iso" {
		f.Found, f.Want = "the unit "+infile.Quote([]byte(c.Unit)), "s, ms, us, ns or iso"
		return f
	}
	return nil
}

func (c *csvRows) next(r *row) (err error) {
	if err = c.table.next(); err != nil {
		return err
	}
	if r.at, err = c.arrival(); err != nil {
		return err
	}
	if r.Prompt, err = c.tokens(c.prompt); err != nil {
		return err
	}
	if r.Output, err = c.tokens(c.output); err != nil {
		return err
	}
	r.text = c.table.fields[c.time]
	return c.labels(r)
}

// arrival reads the time of a row. The first row shows whether a unit that is
// not given is that of a wall clock.
func (c *csvRows) arrival() (exact.Instant, error) {
	if c.guess {
		c.guess = false
		field := c.table.fields[c.time]
		if _, _, ok := new(stampParser).parse(bytes.TrimSpace(field)); !ok {
			return exact.Instant{}, c.in.fault(c.names[c.time], infile.Quote(field), wantStamp,
				"for a bare number give its unit, s, ms, us or ns, in workload.columns, such as unit = \"ms\"")
		}
		c.clock = &wallClock{}
	}
	if c.clock != nil {
		return c.clock.at(c.table, c.time)
	}
	return c.at(c.time, c.unit)
}

// labels reads the columns that need not be there.
func (c *csvRows) labels(r *row) (err error) {
	if c.id >= 0 {
		if r.Name, err = c.name(c.id, &c.ids); err != nil {
			return err
		}
	}
	if c.session >= 0 {
		text, err := c.text(c.session)
		if err != nil {
			return err
		}
		_, r.Session = c.sessions.of(text)
	}
	if c.class >= 0 {
		if r.Class, err = c.label(c.class, &c.classes); err != nil {
			return err
		}
	}
	if c.priority >= 0 {
		text := bytes.TrimSpace(c.table.fields[c.priority])
		n, err := strconv.ParseInt(string(text), 10, 32)
		if err != nil {
			return c.in.fault(c.names[c.priority], infile.Quote(text), wantPriority, "")
		}
		r.Priority = int32(n)
	}
	return nil
}

// wantPriority is what a field of priorities may hold.
const wantPriority = "a whole number from -2147483648 to 2147483647"

func (c *csvRows) fields() rowFields {
	return rowFields{c.names[c.time], c.names[c.prompt], c.names[c.output]}
}

func (c *csvRows) describe(r *Report) {
	r.Ignored = c.ignored()
	if c.clock != nil && c.clock.seen && !c.clock.zoned {
		r.Notes = append(r.Notes, "the times have no zone and are taken as they stand")
	}
}
