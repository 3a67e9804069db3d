package gate

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"servesim/analysis"
)

// junitElement is what JUnit's schema allows of an element: junit-10.xsd of Jenkins'
// xUnit plugin, which is the common ground of CI systems.
type junitElement struct {
	attributes, required, children []string
	text                           bool
}

// junitSchema is that schema, of the elements that a gate writes, without times, which
// have a form there and which no gate writes.
func junitSchema() map[string]junitElement {
	words := strings.Fields
	result := junitElement{words("type message"), nil, nil, true}
	return map[string]junitElement{
		"testsuites": {words("name tests failures errors"), nil, words("testsuite"), false},
		"testsuite": {words("name tests failures errors group skipped timestamp hostname id package file log url"), words("name tests failures errors"),
			words("testsuite properties testcase system-out system-err"), false},
		"properties": {nil, nil, words("property"), false},
		"property":   {words("name value"), words("name value"), nil, false},
		"testcase":   {words("name classname group"), words("name"), words("skipped error failure system-out system-err"), false},
		"error":      result, "failure": result, "skipped": result,
		"system-out": {nil, nil, nil, true}, "system-err": {nil, nil, nil, true},
	}
}

// junitFaults returns where text isn't of the schema, or miscounts itself.
func junitFaults(text string) []string {
	var faults, path []string
	schema := junitSchema()
	fault := func(format string, args ...any) {
		faults = append(faults, strings.Join(path, ">")+": "+fmt.Sprintf(format, args...))
	}
	counts, said := map[string]int{}, map[string]string{}
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return append(faults, err.Error())
		}
		switch x := token.(type) {
		case xml.StartElement:
			name := x.Name.Local
			if len(path) == 0 && name != "testsuites" || len(path) > 0 && !slices.Contains(schema[path[len(path)-1]].children, name) {
				fault("has %s", name)
			}
			path = append(path, name)
			counts[name]++
			var given []string
			for _, a := range x.Attr {
				given = append(given, a.Name.Local)
				if !slices.Contains(schema[name].attributes, a.Name.Local) {
					fault("attribute %s", a.Name.Local)
				}
				if name == "testsuite" {
					said[a.Name.Local] = a.Value
				}
			}
			for _, r := range schema[name].required {
				if !slices.Contains(given, r) {
					fault("no attribute %s", r)
				}
			}
		case xml.EndElement:
			path = path[:len(path)-1]
		case xml.CharData:
			if len(path) > 0 && !schema[path[len(path)-1]].text && strings.TrimSpace(string(x)) != "" {
				fault("has text %q", x)
			}
		}
	}
	for element, attribute := range map[string]string{"testcase": "tests", "failure": "failures", "error": "errors"} {
		if said[attribute] != strconv.Itoa(counts[element]) {
			faults = append(faults, fmt.Sprintf("%s is %s of %d", attribute, said[attribute], counts[element]))
		}
	}
	return faults
}

// TestJUnit holds that what is written is of JUnit's schema, whatever the verdict.
func TestJUnit(t *testing.T) {
	o := simulated(t, example("ttft <= 80ms, tpot <= 25ms, ttft p99 <= 1s"))
	for _, verdict := range []analysis.Judgement{analysis.Pass, analysis.TooClose, analysis.Fail} {
		o.Checks[0].Judgement = verdict
		var b strings.Builder
		if err := o.JUnit(&b, "a ]]> b\x00\ufffe\n"); err != nil {
			t.Fatal(err)
		}
		if faults := junitFaults(b.String()); faults != nil {
			t.Errorf("%s: %v\n%s", verdict, faults, b.String())
		}
	}
	var b strings.Builder
	if err := RefusedJUnit(&b, "g<&.toml", errors.New("one \"fault\"\nand <another>")); err != nil {
		t.Fatal(err)
	}
	if faults := junitFaults(b.String()); faults != nil || !strings.Contains(b.String(), `errors="2"`) {
		t.Errorf("%v\n%s", faults, b.String())
	}
	for _, bad := range []string{
		`<testsuites><testcase name="a"/></testsuites>`,
		`<testsuites><testsuite name="a" tests="1" failures="0" errors="0"></testsuite></testsuites>`,
		`<testsuites><testsuite name="a" tests="0" failures="0" errors="0" x="1"></testsuite></testsuites>`,
	} {
		if junitFaults(bad) == nil {
			t.Errorf("the schema allows %s", bad)
		}
	}
}
