package gate

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"servesim/analysis"
)

// The form of JUnit XML that CI systems read: suites of test cases, of which each is
// passed, or has a failure, or an error.
type (
	suitesXML struct {
		XMLName  xml.Name `xml:"testsuites"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Suites   []suiteXML
	}
	suiteXML struct {
		XMLName    xml.Name      `xml:"testsuite"`
		Name       string        `xml:"name,attr"`
		Tests      int           `xml:"tests,attr"`
		Failures   int           `xml:"failures,attr"`
		Errors     int           `xml:"errors,attr"`
		Skipped    int           `xml:"skipped,attr"`
		Properties []propertyXML `xml:"properties>property,omitempty"`
		Cases      []caseXML
		Out        *textXML `xml:"system-out"`
	}
	propertyXML struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	caseXML struct {
		XMLName   xml.Name   `xml:"testcase"`
		Name      string     `xml:"name,attr"`
		Classname string     `xml:"classname,attr"`
		Error     *resultXML `xml:"error"`
		Failure   *resultXML `xml:"failure"`
		Out       *textXML   `xml:"system-out"`
	}
	resultXML struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",chardata"`
	}
	textXML struct {
		Text string `xml:",cdata"`
	}
)

// JUnit writes o as JUnit XML: a test case for each limit at the target, failed if it
// was missed and in error if it is too close to call, and one for each load, which
// only tells what was found. Text, as Text writes it, goes with it.
func (o *Outcome) JUnit(w io.Writer, text string) error {
	g := o.Gate
	s := suiteXML{Name: g.Name, Out: output(text)}
	for _, f := range o.facts() {
		s.Properties = append(s.Properties, propertyXML{strings.ToLower(f[0]), f[1]})
	}
	for i := range o.Checks {
		c := &o.Checks[i]
		one := caseXML{Name: c.Name + " at 100 %", Classname: g.Name}
		found := "found " + c.Found()
		if c.Known {
			found += fmt.Sprintf(", %s to %s", c.text(c.Lo), c.text(c.Hi))
		}
		switch c.Judgement {
		case analysis.Fail:
			one.Failure = &resultXML{found, string(c.Judgement), "measure next: " + o.Advice}
			s.Failures++
		case analysis.TooClose:
			one.Error = &resultXML{found, string(c.Judgement), "measure next: " + o.Advice}
			s.Errors++
		default:
			one.Out = output(found)
		}
		s.Cases = append(s.Cases, one)
	}
	heads := o.loadHeads()
	for _, row := range o.loadRows() {
		var said []string
		for i := 1; i < len(row); i++ {
			if row[i] != "" {
				said = append(said, strings.TrimSpace(heads[i]+" "+row[i]))
			}
		}
		s.Cases = append(s.Cases, caseXML{Name: "load " + row[0], Classname: g.Name, Out: output(strings.Join(said, ", "))})
	}
	s.Cases = append(s.Cases, caseXML{Name: "fall beyond 100 %", Classname: g.Name, Out: output(o.fallText())})
	return writeSuite(w, s)
}

// RefusedJUnit writes the error of a gate that was refused or is at fault as JUnit
// XML: a test case in error for each of its lines.
func RefusedJUnit(w io.Writer, file string, err error) error {
	s := suiteXML{Name: file}
	for line := range strings.Lines(err.Error()) {
		line = strings.TrimSpace(line)
		s.Errors++
		s.Cases = append(s.Cases, caseXML{Name: fmt.Sprintf("gate file, fault %d", s.Errors), Classname: file, Error: &resultXML{Message: line, Type: "refused"}})
	}
	return writeSuite(w, s)
}

// writeSuite writes one suite.
func writeSuite(w io.Writer, s suiteXML) error {
	s.Tests = len(s.Cases)
	all := suitesXML{Name: "servesim gate", Tests: s.Tests, Failures: s.Failures, Errors: s.Errors, Suites: []suiteXML{s}}
	text, err := xml.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	_, err = io.WriteString(w, xml.Header+string(text)+"\n")
	return err
}

// output returns what a case or a suite printed, without what XML can't have.
func output(s string) *textXML {
	return &textXML{strings.Map(func(c rune) rune {
		if c >= utf8.RuneError && c <= 0xFFFF || c < ' ' && c != '\n' && c != '\t' { // U+FFFD to U+FFFF
			return -1
		}
		return c
	}, s)}
}
