package validate

import (
	"encoding/json"
	"fmt"
	"io"
)

// schema is the version of the JSON that JSON writes.
const schema = 1

type jsonCell struct {
	By        string  `json:"by"`
	GPU       string  `json:"gpu,omitempty"`
	Engine    string  `json:"engine,omitempty"`
	Model     string  `json:"model,omitempty"`
	Weights   string  `json:"weight_dtype,omitempty"`
	Users     string  `json:"concurrency,omitempty"`
	Metric    string  `json:"metric"`
	Saturated bool    `json:"saturated"`
	N         int     `json:"n"`
	Median    float64 `json:"median_abs_error_pct"`
	P90       float64 `json:"p90_abs_error_pct"`
	Bias      float64 `json:"bias_pct"`
}

type jsonLine struct {
	ID        string  `json:"id"`
	Metric    string  `json:"metric"`
	Measured  float64 `json:"measured"`
	Simulated float64 `json:"simulated"`
	Error     float64 `json:"error_pct"`
	Saturated bool    `json:"saturated"`
}

type jsonCount struct {
	What string `json:"what"`
	N    int    `json:"n"`
}

type jsonSplit struct {
	Split     Split       `json:"split"`
	Rows      int         `json:"rows"`
	Simulated int         `json:"simulated"`
	Saturated int         `json:"saturated"`
	Cells     []jsonCell  `json:"cells"`
	Worst     []jsonLine  `json:"worst"`
	Skipped   []jsonCount `json:"skipped"`
	Figures   []jsonCount `json:"skipped_figures"`
}

// JSON writes r, but for its lines, for programs.
func JSON(w io.Writer, r *Report) error {
	top := struct {
		Schema int         `json:"schema"`
		Kind   string      `json:"kind"`
		Splits []jsonSplit `json:"splits"`
		Notes  []jsonCount `json:"notes"`
	}{schema, "servesim-validate", []jsonSplit{}, jsonCounts(r.Notes)}
	for i := range r.Splits {
		p := &r.Splits[i]
		s := jsonSplit{Split: p.Split, Rows: p.Rows, Simulated: p.Simulated, Saturated: p.Saturated,
			Cells: []jsonCell{}, Worst: []jsonLine{}, Skipped: jsonCounts(p.Skipped), Figures: jsonCounts(p.Figures)}
		for _, by := range Groupings() {
			for _, c := range p.Cells[by] {
				s.Cells = append(s.Cells, jsonCell{by.String(), c.GPU, c.Engine, c.Model, c.Weights, c.Users,
					c.Metric.String(), c.Saturated, c.N, c.Median, c.P90, c.Bias})
			}
		}
		for _, l := range p.Worst {
			s.Worst = append(s.Worst, jsonLine{l.Row.ID, l.Metric.String(), l.Measured, l.Simulated, l.Error(), l.Saturated})
		}
		top.Splits = append(top.Splits, s)
	}
	b, err := json.MarshalIndent(top, "", "  ")
	if err != nil {
		return fmt.Errorf("write JSON: %w", err)
	}
	_, err = w.Write(append(b, '\n'))
	return err
}

func jsonCounts(counts []Count) []jsonCount {
	out := make([]jsonCount, 0, len(counts))
	for _, c := range counts {
		out = append(out, jsonCount(c))
	}
	return out
}
