package sweep

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"servesim/sim/observe"
)

// fileSchema is the version of the files in the folder of a sweep.
const fileSchema = 1

// The names of what is in the folder of a sweep.
const (
	manifestName = "sweep.json"
	planName     = "plan.toml"
	pointsName   = "points"
)

// A Row is what a point came to.
type Row struct {
	// Reason says why the point could not be simulated; Values is nil then.
	Reason string
	// Values are those of Columns, NaN where there is no data.
	Values []float64
}

// A folder holds the files of a sweep.
type folder string

// path returns the path of the file of a point.
func (f folder) path(pt *Point) string { return filepath.Join(string(f), pointsName, pt.ID+".json") }

// pointFile is the file of a point: the point, and the SHA-256 of its text, by
// which a file that is cut short or was changed is told from a whole one.
type pointFile struct {
	Point  json.RawMessage `json:"point"`
	SHA256 string          `json:"sha256"`
}

// pointJSON is what is kept of a point.
type pointJSON struct {
	Schema int                 `json:"schema"`
	Kind   string              `json:"kind"`
	ID     string              `json:"id"`
	Point  string              `json:"settings"` // for people
	Reason string              `json:"infeasible,omitempty"`
	Values map[string]*float64 `json:"values,omitempty"` // null where there is no data
}

// pointKind is what a point's file says that it is.
const pointKind = "servesim-sweep-point"

// errNoPoint reports that a point isn't done.
var errNoPoint = errors.New("not done")

// read returns the row of a point. The error is errNoPoint if there is no file, a
// *Damaged if it isn't whole, else that of the system.
func (f folder) read(pt *Point) (Row, error) {
	path := f.path(pt)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Row{}, errNoPoint
	}
	if err != nil {
		return Row{}, fmt.Errorf("%w; make it readable, or take it away, and the sweep does this point again", err)
	}
	var file pointFile
	if err := json.Unmarshal(text, &file); err != nil {
		return Row{}, &Damaged{path, "it isn't whole"}
	}
	if checksum([]byte(file.Point)) != file.SHA256 {
		return Row{}, &Damaged{path, "its content isn't what its checksum is of"}
	}
	var p pointJSON
	if err := json.Unmarshal(file.Point, &p); err != nil {
		return Row{}, &Damaged{path, err.Error()}
	}
	switch {
	case p.Schema != fileSchema || p.Kind != pointKind:
		return Row{}, &Damaged{path, fmt.Sprintf("it says schema %d, kind %q; this servesim reads schema %d, kind %q", p.Schema, p.Kind, fileSchema, pointKind)}
	case p.ID != pt.ID:
		return Row{}, &Damaged{path, "it is of point " + p.ID}
	case p.Reason != "":
		return Row{Reason: p.Reason}, nil
	}
	row := Row{}
	for _, c := range Columns() {
		v, ok := p.Values[c.Name]
		if !ok {
			return Row{}, &Damaged{path, "it lacks " + c.Name}
		}
		if v == nil {
			row.Values = append(row.Values, math.NaN())
		} else {
			row.Values = append(row.Values, *v)
		}
	}
	return row, nil
}

// Damaged reports that the file of a point isn't what servesim wrote.
type Damaged struct{ Path, Why string }

// Error implements error.
func (e *Damaged) Error() string {
	return fmt.Sprintf("%s: %s; running the sweep again makes it anew", e.Path, e.Why)
}

// write makes the file of a point, whole or not at all.
func (f folder) write(pt *Point, row Row) error {
	p := pointJSON{Schema: fileSchema, Kind: pointKind, ID: pt.ID, Point: pt.Name(), Reason: row.Reason}
	if row.Values != nil {
		p.Values = map[string]*float64{}
		for i, c := range Columns() {
			p.Values[c.Name] = number(row.Values[i])
		}
	}
	inner, err := json.Marshal(p)
	if err != nil {
		return err
	}
	text, err := json.Marshal(pointFile{Point: inner, SHA256: checksum(inner)})
	if err != nil {
		return err
	}
	return writeFile(f.path(pt), append(text, '\n'))
}

// number returns x as JSON has it, nil for no data.
func number(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}

// writeFile makes a file, whole or not at all.
func writeFile(path string, text []byte) error {
	f, err := observe.CreateFile(path)
	if err != nil {
		return err
	}
	defer f.Abort()
	if _, err := f.Write(text); err != nil {
		return err
	}
	return f.Commit()
}

// clean removes the temporary files that processes which were killed have left. It
// is for a sweep that is done: nobody writes then.
func (f folder) clean() {
	left, _ := filepath.Glob(filepath.Join(string(f), pointsName, ".*.tmp")) // the pattern is sound
	for _, path := range left {
		os.Remove(path) // an ornament: what stays harms nobody
	}
}

// manifest is what a folder says of the sweep that it holds.
type manifest struct {
	Schema   int      `json:"schema"`
	Kind     string   `json:"kind"`
	Version  string   `json:"version"`
	Plan     string   `json:"plan_sha256"`
	Scenario string   `json:"scenario_sha256"`
	Points   []string `json:"points"`
}

// begin makes the folder that of a sweep, or holds that it is.
func (f folder) begin(p *Plan, points []Point, version string) error {
	m := manifest{Schema: fileSchema, Kind: "servesim-sweep", Version: version, Plan: checksum(p.Text), Scenario: checksum(p.BaseText)}
	for _, pt := range points {
		m.Points = append(m.Points, pt.ID)
	}
	text, err := json.MarshalIndent(m, "", " ")
	if err != nil {
		return err
	}
	text = append(text, '\n')
	path := filepath.Join(string(f), manifestName)
	have, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if err := f.foreign(p); err != nil {
			return err
		}
		// Several processes may come here at once: the plan that is there in the
		// end is that of all, or the others see it below.
		if err := os.MkdirAll(filepath.Join(string(f), pointsName), 0o777); err != nil {
			return fmt.Errorf("folder for the results: %w", err)
		}
		if err := errors.Join(writeFile(filepath.Join(string(f), planName), []byte(p.Text)), writeFile(path, text)); err != nil {
			return err
		}
		have, err = os.ReadFile(path)
	}
	if err != nil {
		return err
	}
	if bytes.Equal(have, text) {
		return nil
	}
	return f.changed(&m, have, p)
}

// foreign returns a fault if a folder that is no sweep's yet has something in it
// that would be written over, or that another process of the same sweep didn't put
// there.
func (f folder) foreign(p *Plan) error {
	entries, err := os.ReadDir(string(f))
	if err != nil {
		return nil // it isn't there, or making it says why it cannot be
	}
	for _, e := range entries {
		switch name := e.Name(); {
		case name == pointsName, name == manifestName, strings.HasPrefix(name, ".") && strings.HasSuffix(name, ".tmp"):
			continue
		case name == planName:
			if text, err := os.ReadFile(filepath.Join(string(f), name)); err == nil && string(text) == p.Text {
				continue
			}
		}
		return usagef("%s has %s in it and isn't the folder of a sweep; give a folder that is new or empty with --out", f, e.Name())
	}
	return nil
}

// changed says why a folder isn't that of the sweep that m is.
func (f folder) changed(m *manifest, have []byte, p *Plan) error {
	var was manifest
	path := filepath.Join(string(f), manifestName)
	fix := "give another folder with --out, or put back what was changed"
	if err := json.Unmarshal(have, &was); err != nil || was.Kind != m.Kind || was.Schema != m.Schema {
		return usagef("%s isn't what this servesim writes; give another folder with --out", path)
	}
	switch {
	case was.Plan != m.Plan:
		return usagef("%s: is not the plan that %s was begun with, which %s shows; a plan cannot change once it has results; %s",
			p.File, f, filepath.Join(string(f), planName), fix)
	case was.Scenario != m.Scenario:
		return usagef("%s: has changed since %s was begun with it, and its results wouldn't be of one scenario; %s", orDefault(p.Base.Path), f, fix)
	case was.Version != m.Version:
		return usagef("%s was begun by servesim %s, and this is %s; results of two versions don't mix: give another folder with --out, or run that version", f, was.Version, m.Version)
	}
	return usagef("%s: a trace, a profile or a model that the plan names has changed since %s was begun; %s", p.File, f, fix)
}

// checksum returns the SHA-256 of data, in hexadecimal.
func checksum[T string | []byte](data T) string {
	sum := sha256.Sum256([]byte(data))
	return hex.EncodeToString(sum[:])
}
