package main

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"servesim/gate"
	"servesim/hardware"
	"servesim/report"
	"servesim/report/figure"
	"servesim/report/page"
	"servesim/sweep"
)

// writePage writes the page of a sweep, whose tables text says for people.
func (o *sweepOptions) writePage(s *sweep.Sweep, t *sweep.Table, text string) error {
	var results bytes.Buffer
	if err := t.JSON(&results); err != nil {
		return err
	}
	table, err := figure.ReadTable(&results, "the sweep")
	if err != nil {
		return err
	}
	k, column := s.Ranked(o.text.RankBy)
	rank, err := t.Rank(column.Name)
	if err != nil {
		return err
	}
	verdict := fmt.Sprintf("%d points, none of which has a %s.", len(t.Points), column.Label())
	if len(rank) > 0 {
		if x, ok := t.Rows[rank[0]].Value(k); ok {
			verdict = fmt.Sprintf("Of %d points the best %s is %s, of %s.", len(t.Points), column.Label(), report.Number(x), t.Points[rank[0]].Name())
		}
	}
	return o.html.writeTable(&page.Tabled{Kind: "sweep", Title: filepath.Base(o.path), Verdict: verdict, Text: text, Table: table, Best: rank})
}

// writePage writes the page of what a search found.
func (o *capacityOptions) writePage(c *foundCapacity) error {
	t := page.Tabled{Kind: "capacity", Title: titleOf(c.plan), Text: c.text, Answer: c.answer}
	if !o.fleet {
		table, err := figure.ReadTable(strings.NewReader(c.json), "the search")
		if err != nil {
			return err
		}
		t.Table = table
	}
	return o.html.writeTable(&t)
}

// writePage writes the page of a gate, of which text says for people what came of it.
func (o *gateOptions) writePage(c *gate.Outcome, text string) error {
	table := &figure.Table{Name: "the gate", Axes: []string{"workload.rate_per_s"}}
	for i := range c.Rows {
		r := &c.Rows[i]
		if r.Level.Rate <= 0 {
			continue
		}
		row := figure.Row{Axes: []string{fmt.Sprint(r.Level.Rate)}, Values: map[string]float64{"requests": float64(r.Pool.Requests), "goodput_share": r.Pool.Share}}
		if s := &r.Pool.ShareInterval; s.OK {
			row.Values["goodput_share_low"], row.Values["goodput_share_high"] = s.Lo, s.Hi
		}
		if r.Clock {
			row.Values["goodput_requests_per_s"] = r.Pool.RequestsPerSecond.Mean * r.Pool.Share
		}
		for _, m := range r.Pool.Metrics {
			for _, q := range m.Quantiles {
				if m.OK {
					row.Values[m.Key+"_"+q.P.String()+"_ms"] = q.Value.Milliseconds()
				}
			}
		}
		table.Rows = append(table.Rows, row)
	}
	verdict := fmt.Sprintf("%s: goodput of %s %% or more at the target load", c.Verdict, strings.TrimPrefix(c.Gate.SLO.MinGoodput.String(), "p"))
	return o.html.writeTable(&page.Tabled{
		Kind: "gate", Title: cmp.Or(c.Gate.Name, filepath.Base(o.path)), Verdict: verdict + ".", Text: text, Table: table,
	})
}

// writePage writes the page of a comparison of hardware.
func (o *hardwareOptions) writePage(c *hardware.Comparison) error {
	var names, said []string
	carries, costs := page.Quantity{Name: "capacity", Unit: "requests/s a GPU"}, page.Quantity{Name: "cost", Unit: "$ a million output tokens"}
	for _, s := range c.Sides {
		if s.Answer == nil {
			said = append(said, s.Label+" serves nothing")
			continue
		}
		rate := s.Answer.Rate / s.GPUs()
		names, carries.Values = append(names, s.Label), append(carries.Values, rate)
		costs.Values = append(costs.Values, s.Answer.Cost.USDPerMTok)
		said = append(said, fmt.Sprintf("%s carries %s requests/s a GPU", s.Label, report.Number(rate)))
	}
	t := page.Tabled{Kind: "hardware", Title: strings.Join(labelsOf(c), " against "), Verdict: strings.Join(said, "; ") + ".", Text: o.text(c)}
	quantities := []page.Quantity{carries, costs}
	if slices.ContainsFunc(costs.Values, func(x float64) bool { return !(x > 0) }) {
		quantities = quantities[:1] // a profile without a price
	}
	if len(names) > 0 {
		t.More = append(t.More, page.Bars("What each carries within the limits, and what that costs", "At the capacity of each; see the tables for intervals.", names, quantities...))
	}
	return o.html.writeTable(&t)
}

// labelsOf returns what tables call the sides of c.
func labelsOf(c *hardware.Comparison) []string {
	var list []string
	for _, s := range c.Sides {
		list = append(list, s.Label)
	}
	return list
}

// writeTable writes the page of t.
func (f *htmlFlag) writeTable(t *page.Tabled) error {
	t.Draw = drawStill
	p, err := page.OfTable(t)
	if err != nil {
		return err
	}
	return f.write(p)
}
