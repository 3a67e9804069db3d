package sweep

import (
	"fmt"
	"io"
	"math"
	"reflect"

	"servesim/scenario"

	"github.com/parquet-go/parquet-go"
)

// kind is the type of an axis's values: that of all of them, else a string.
func (t *Table) kind(a Axis) reflect.Type {
	var is reflect.Type
	for i := range t.Points {
		v := t.Points[i].value(a)
		if v == nil {
			continue
		}
		of := reflect.TypeFor[string]()
		switch v.(type) {
		case int64, float64, bool:
			of = reflect.TypeOf(v)
		}
		whole, real := reflect.TypeFor[int64](), reflect.TypeFor[float64]()
		switch {
		case is == nil || is == of:
			is = of
		case (is == whole || is == real) && (of == whole || of == real):
			is = real
		default:
			return reflect.TypeFor[string]()
		}
	}
	if is == nil {
		return reflect.TypeFor[string]()
	}
	return is
}

// rowType returns a struct type with a field for each column of the table, under
// the tags of JSON and Parquet. What can be without data is a pointer.
func (t *Table) rowType() reflect.Type {
	var fields []reflect.StructField
	add := func(name string, of reflect.Type, optional bool) {
		option := ""
		if optional {
			of, option = reflect.PointerTo(of), ",optional"
		}
		fields = append(fields, reflect.StructField{
			Name: fmt.Sprintf("F%d", len(fields)), Type: of,
			Tag: reflect.StructTag(fmt.Sprintf(`json:"%s" parquet:"%s%s"`, name, name, option)),
		})
	}
	add("point", reflect.TypeFor[int64](), false)
	add("id", reflect.TypeFor[string](), false)
	for _, a := range t.Axes {
		add(a.Key, t.kind(a), true)
	}
	add("infeasible", reflect.TypeFor[string](), true)
	for _, c := range Columns() {
		switch {
		case c.Words != nil:
			add(c.Name, reflect.TypeFor[string](), true)
		case c.Whole:
			add(c.Name, reflect.TypeFor[int64](), true)
		default:
			add(c.Name, reflect.TypeFor[float64](), true)
		}
	}
	return reflect.StructOf(fields)
}

// typed returns the table as a slice of rowType.
func (t *Table) typed() (reflect.Value, error) {
	of := t.rowType()
	rows := reflect.MakeSlice(reflect.SliceOf(of), len(t.Rows), len(t.Rows))
	for i, row := range t.Rows {
		pt, v := &t.Points[i], rows.Index(i)
		v.Field(0).SetInt(int64(pt.Index + 1))
		v.Field(1).SetString(pt.ID)
		at := 2
		next := func(x any) error {
			f := v.Field(at)
			at++
			return set(f, x)
		}
		for _, a := range t.Axes {
			if err := next(pt.value(a)); err != nil {
				return rows, fmt.Errorf("point %d: %s: %w", pt.Index+1, a.Key, err)
			}
		}
		var reason any
		if row.Reason != "" {
			reason = row.Reason
		}
		if err := next(reason); err != nil {
			return rows, err
		}
		for k, c := range Columns() {
			var x any
			if n := row.at(k); !math.IsNaN(n) {
				x = n
			}
			if word, ok := c.word(row.at(k)); ok {
				x = word
			}
			if err := next(x); err != nil {
				return rows, err
			}
		}
	}
	return rows, nil
}

// set points f, a pointer, to x as its type has it; nil stays nil.
func set(f reflect.Value, x any) error {
	if x == nil {
		return nil
	}
	p := reflect.New(f.Type().Elem())
	switch p.Elem().Kind() {
	case reflect.String:
		p.Elem().SetString(scenario.ValueText(x))
	case reflect.Bool:
		b, _ := x.(bool)
		p.Elem().SetBool(b)
	default:
		n := reflect.ValueOf(x)
		if !n.CanConvert(p.Elem().Type()) {
			return fmt.Errorf("%v is no number", x)
		}
		p.Elem().Set(n.Convert(p.Elem().Type()))
	}
	f.Set(p)
	return nil
}

// Parquet writes the table: a row for each point, in one row group; what has no
// data is null.
func (t *Table) Parquet(w io.Writer) error {
	rows, err := t.typed()
	if err != nil {
		return err
	}
	schema := parquet.SchemaOf(reflect.New(t.rowType()).Elem().Interface())
	out := parquet.NewWriter(w, schema, parquet.Compression(&parquet.Zstd), parquet.CreatedBy("servesim", scenario.Version(), ""))
	for i := range rows.Len() {
		if err := out.Write(rows.Index(i).Addr().Interface()); err != nil {
			return fmt.Errorf("write Parquet: %w", err)
		}
	}
	if err := out.Close(); err != nil {
		return fmt.Errorf("write Parquet: %w", err)
	}
	return nil
}
