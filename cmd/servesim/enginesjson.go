package main

import (
	"encoding/json"
	"io"

	"servesim/report"
	"servesim/sim/scheduler"
)

// engineJSON is an engine version for programs.
type engineJSON struct {
	Version    string              `json:"version"`
	Summary    string              `json:"summary"`
	Policy     string              `json:"policy"`
	Repository string              `json:"repository"`
	Revision   string              `json:"revision"`
	Scheduler  string              `json:"scheduler_files"`
	Schedules  string              `json:"schedules"`
	Recorded   int                 `json:"recordings"`
	Exact      int                 `json:"recordings_exact"`
	Skipped    string              `json:"recordings_skipped"`
	Switches   []engineSwitchJSON  `json:"switches"`
	Devices    []engineDeviceJSON  `json:"limits_by_device"`
	GPU        string              `json:"gpu,omitempty"`
	Model      string              `json:"model,omitempty"`
	Defaults   []engineDefaultJSON `json:"defaults,omitempty"`
}

// engineSwitchJSON is a switch of a version.
type engineSwitchJSON struct {
	Name    string `json:"name"`
	Value   string `json:"value"`
	Meaning string `json:"meaning"`
}

// engineDeviceJSON are limits on some devices.
type engineDeviceJSON struct {
	MinBytes float64          `json:"min_bytes"`
	Not      string           `json:"name_without,omitempty"`
	Server   engineBudgetJSON `json:"server"`
	Offline  engineBudgetJSON `json:"offline"`
}

// engineBudgetJSON are the limits of a step.
type engineBudgetJSON struct {
	Tokens int32 `json:"max_num_batched_tokens"`
	Seqs   int32 `json:"max_num_seqs"`
}

// engineDefaultJSON is an option with its default as a scenario file has it.
type engineDefaultJSON struct {
	Option  string `json:"option"`
	Value   string `json:"value,omitempty"`
	Rule    string `json:"rule,omitempty"`
	Unit    string `json:"unit,omitempty"`
	Meaning string `json:"meaning"`
	From    string `json:"from,omitempty"`
	File    string `json:"file,omitempty"`
}

// json returns f for programs.
func (f *engineFacts) json() engineJSON {
	j := engineJSON{
		Version: f.Name, Summary: f.Summary, Policy: f.Config.Policy,
		Repository: f.Source.Repository, Revision: f.Source.Revision, Scheduler: f.Source.Scheduler, Schedules: f.how(),
		Recorded: f.recordings.Recorded, Exact: f.recordings.Exact, Skipped: f.recordings.Skipped,
		Switches: []engineSwitchJSON{}, GPU: f.GPU, Model: f.Model,
	}
	for _, s := range f.Config.Switches() {
		j.Switches = append(j.Switches, engineSwitchJSON(s))
	}
	budget := func(b scheduler.Budget) engineBudgetJSON {
		return engineBudgetJSON{b.MaxNumBatchedTokens, b.MaxNumSeqs}
	}
	for _, d := range f.Devices {
		j.Devices = append(j.Devices, engineDeviceJSON{d.MinBytes, d.Not, budget(d.Serve), budget(d.Offline)})
	}
	for _, d := range f.defaults {
		j.Defaults = append(j.Defaults, engineDefaultJSON{d.Option, d.Value, d.Rule, d.Unit, d.Meaning, d.From, d.File})
	}
	return j
}

// writeEnginesJSON prints all versions for programs.
func writeEnginesJSON(w io.Writer, list []engineFacts) error {
	out := struct {
		Schema  int          `json:"schema"`
		Kind    string       `json:"kind"`
		Engines []engineJSON `json:"engines"`
	}{Schema: report.Schema, Kind: "servesim-engines"}
	for i := range list {
		out.Engines = append(out.Engines, list[i].json())
	}
	return writeIndented(w, out)
}

// writeEngineJSON prints one version for programs.
func writeEngineJSON(w io.Writer, f engineFacts) error {
	return writeIndented(w, struct {
		Schema int    `json:"schema"`
		Kind   string `json:"kind"`
		engineJSON
	}{report.Schema, "servesim-engine", f.json()})
}

// writeIndented writes v as indented JSON.
func writeIndented(w io.Writer, v any) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(b, '\n'))
	return err
}
