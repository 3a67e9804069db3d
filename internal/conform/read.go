package conform

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// named is a vector of the named form: one input, several recordings.
type named struct {
	ID       string            `json:"id"`
	Engine   string            `json:"engine"`
	Params   json.RawMessage   `json:"params"`
	Requests []Request         `json:"requests"`
	Expect   map[string][]Step `json:"expect"`
}

// random is a vector of the random form.
type random struct {
	Name     string          `json:"name"`
	Params   json.RawMessage `json:"params"`
	Requests []Request       `json:"requests"`
	Steps    []Step          `json:"steps"`
}

// Read reads vectors in either form: a list of named vectors, or an object of
// lists by engine version. Vectors come out in the order of the file, versions
// sorted. name is the file's, for errors. It is an error if the file has no
// vector, and if a vector has no request, no recorded step or, of an engine that
// has a policy here, a parameter that Params lacks.
func Read(r io.Reader, name string) ([]Vector, error) {
	data, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	read := readRandom
	if trimmed := bytes.TrimSpace(data); len(trimmed) > 0 && trimmed[0] == '[' {
		read = readNamed
	}
	vectors, err := read(data)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: not a file of recorded schedules (a list of vectors, or an object of lists by engine version): %w", name, plain(data, err))
	case len(vectors) == 0:
		return nil, fmt.Errorf("%s: there is no vector in it; want a list of vectors, or an object of lists by engine version", name)
	}
	var faults []string
	for i := range vectors {
		if err := vectors[i].check(); err != nil && !slices.Contains(faults, err.Error()) {
			faults = append(faults, err.Error()) // once, not for each version
		}
	}
	if len(faults) > 0 {
		return nil, fmt.Errorf("%s: %s", name, strings.Join(faults, "\n"))
	}
	return vectors, nil
}

// readNamed reads a list of vectors.
func readNamed(data []byte) ([]Vector, error) {
	var list []named
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, err
	}
	var out []Vector
	for i, n := range list {
		if n.ID == "" || n.Engine == "" || len(n.Expect) == 0 {
			return nil, fmt.Errorf("vector %d, %q: id, engine or expect is missing; each vector says what engine it is of and what it expects of each version", i+1, n.ID)
		}
		for _, label := range slices.Sorted(maps.Keys(n.Expect)) {
			for _, version := range strings.Split(label, " = ") {
				v := Vector{Name: n.ID, Label: n.Engine + " " + version, Requests: n.Requests, Steps: n.Expect[label]}
				if err := v.setParams(n.Params); err != nil {
					return nil, err
				}
				out = append(out, v)
			}
		}
	}
	return out, nil
}

// readRandom reads an object of lists by engine version.
func readRandom(data []byte) ([]Vector, error) {
	var lists map[string][]random
	if err := json.Unmarshal(data, &lists); err != nil {
		return nil, err
	}
	var out []Vector
	for _, label := range slices.Sorted(maps.Keys(lists)) {
		if len(lists[label]) == 0 {
			return nil, fmt.Errorf("the list of %q is empty", label)
		}
		for i, r := range lists[label] {
			if r.Name == "" {
				return nil, fmt.Errorf("vector %d of %q: name: missing", i+1, label)
			}
			v := Vector{Name: r.Name, Label: label, Requests: r.Requests, Steps: r.Steps}
			if err := v.setParams(r.Params); err != nil {
				return nil, err
			}
			out = append(out, v)
		}
	}
	return out, nil
}

// setParams decodes the parameters, if v is of an engine that has a policy
// here; those of other engines have other names and types.
func (v *Vector) setParams(raw json.RawMessage) error {
	if v.engine() == "" {
		return nil
	}
	var given map[string]json.RawMessage
	if err := json.Unmarshal(raw, &given); err != nil || given == nil {
		return fmt.Errorf("vector %s: params: missing, or not an object of limits and switches", v.Name)
	}
	var params any = &v.Params
	if v.engine() == engineTRTLLM {
		params = &v.TRTLLM
	}
	known := paramNames(params)
	for _, key := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(known, key) {
			return fmt.Errorf("vector %s: params: unknown key %q; the keys are %s", v.Name, key, strings.Join(known, ", "))
		}
	}
	if err := json.Unmarshal(raw, params); err != nil {
		return fmt.Errorf("vector %s: params: %w", v.Name, plain(raw, err))
	}
	return nil
}

// paramNames lists the keys of the struct that params points to.
func paramNames(params any) []string {
	t := reflect.TypeOf(params).Elem()
	names := make([]string, t.NumField())
	for i := range names {
		names[i] = t.Field(i).Tag.Get("json")
	}
	return names
}

// plain says what err, of decoding data as JSON, is about without the names of
// Go types: where it is, what was found and what is wanted there.
func plain(data []byte, err error) error {
	line := func(offset int64) int {
		return 1 + bytes.Count(data[:min(max(offset, 0), int64(len(data)))], []byte("\n"))
	}
	var kind *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &kind):
		field := ""
		if kind.Field != "" {
			field = kind.Field + ": "
		}
		return fmt.Errorf("line %d: %sfound a value of JSON type %s; want %s", line(kind.Offset), field, kind.Value, wanted(kind.Type))
	case errors.As(err, &syntax):
		return fmt.Errorf("line %d: not JSON: %w", line(syntax.Offset), err)
	}
	return err
}

// wanted says in JSON's words what decodes into a value of type t.
func wanted(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Slice:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Float64:
		return "a number"
	}
	return fmt.Sprintf("a whole number of at most %d bits", t.Bits())
}
