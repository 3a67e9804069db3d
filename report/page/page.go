package page

import (
	"encoding/base64"
	"html/template"
	"io"
	"strings"

	"servesim/report"
	"servesim/report/figure"
)

// A Page is what a report says.
type Page struct {
	// Kind is the verb whose report it is, such as "compare", and Title what ran.
	Kind, Title string
	// Verdict says in a sentence what came of it.
	Verdict string
	// Facts say what ran and where its numbers are from.
	Facts []Fact
	// First are the figures that are to be seen first, with what they show in Why and a
	// word on how to read them in Reading; both may be empty.
	First        []Picture
	Why, Reading string
	// Sections follow in order.
	Sections []Section
	// Version is that of the program.
	Version string
}

// A Fact is a text under a name, which may be empty where it goes on.
type Fact struct{ Name, Text string }

// A Section is a part of a page under a heading.
type Section struct {
	Title string
	// Note says what there is to know of it; it may be empty.
	Note     string
	Pictures []Picture
	Lives    []Life
	Blocks   []report.Block
}

// A Picture is a figure, with the same as a still picture in SVG for where no scripts
// run, and for paper. Runs are the numbers of the runs that its panels show, nil if
// that is the first.
type Picture struct {
	Figure *figure.Figure
	Still  []byte
	Runs   []int
}

// view is a Page as its template takes it.
type view struct {
	*Page
	Policy template.HTMLAttr // the Content-Security-Policy
	Boot   template.JS
	Script template.JS
	Style  template.CSS
	Data   *data
}

// Write writes p to w. The same page is the same bytes. The errors are those of w.
func Write(w io.Writer, p *Page) error {
	a, err := load()
	if err != nil {
		return err
	}
	v := view{Page: p, Policy: template.HTMLAttr(`content="` + a.policy() + `"`), Boot: a.boot, Script: a.script, Style: a.style, Data: dataOf(p)}
	return a.page.Execute(w, v)
}

// Source returns the still picture as the source of an image.
func (p *Picture) Source() template.URL {
	return template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(p.Still))
}

// Rows returns in how many rows its panels stand.
func (p *Picture) Rows() int {
	columns := max(1, p.Figure.Columns)
	return (len(p.Figure.Panels) + columns - 1) / columns
}

// Slug returns the title as a name for links.
func (s *Section) Slug() string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, s.Title)
}

// Parts cuts the blocks of s into what stands together.
func (s *Section) Parts() []part { return partsOf(s.Blocks) }
