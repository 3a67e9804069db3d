package main

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"servesim/analysis"
	"servesim/internal/conform"
	"servesim/scenario"
	"servesim/sim/gpu"
	"servesim/sim/scheduler"

	"github.com/spf13/cobra"
)

// An enginesOptions is what `servesim engines` was asked for.
type enginesOptions struct {
	env             env
	version         string // or "" for a line about each
	gpu, model      string
	gpuSet, modeled bool // whether they were given
	form            formatFlag
}

// newEngines returns the verb engines, which calls run, or runEngines if that is
// nil.
func newEngines(e env, run func(*enginesOptions) error) *cobra.Command {
	if run == nil {
		run = runEngines
	}
	o := &enginesOptions{env: e}
	cmd := &cobra.Command{
		Use:   "engines [VERSION]",
		Short: "Print what each engine version does, its defaults by device, and where that is from",
		Long: `Print the engine versions that a scenario can name: the policy of each, the files of
the engine that it follows, and how many of the public recordings of the engine's own
scheduler it reproduces exactly. With VERSION, print its switches, its limits by device and
usage, and the default of each of its options on a GPU for a model, with the file that the
engine has it in. A default is what servesim run --print writes out; what options mean is
in servesim list keys, and servesim conform replays recordings.`,
		Example: "  servesim engines\n  servesim engines vllm@0.20 --gpu h100 --model Llama-3.1-8B",
		Args:    arguments(cobra.MaximumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.version = strings.Join(args, "")
			o.gpuSet, o.modeled = cmd.Flags().Changed("gpu"), cmd.Flags().Changed("model")
			return run(o)
		},
		ValidArgs: scenario.PolicyNames(),
	}
	f := cmd.Flags()
	f.StringVar(&o.gpu, "gpu", "h100", "GPU profile that the defaults are for, or the path of one")
	f.StringVar(&o.model, "model", "Llama-3.3-70B", "model that they are for, or the path of one")
	must(cmd.RegisterFlagCompletionFunc("gpu", cobra.FixedCompletions(gpu.ProfileNames(), cobra.ShellCompDirectiveNoFileComp)))
	must(cmd.RegisterFlagCompletionFunc("model", cobra.FixedCompletions(gpu.ModelNames(), cobra.ShellCompDirectiveNoFileComp)))
	o.form.bind(cmd)
	return cmd
}

// runEngines prints one version, or a line about each.
func runEngines(o *enginesOptions) error {
	form, err := o.form.chosen()
	if err != nil {
		return err
	}
	json := form.Name() == "json"
	if o.version == "" {
		if o.gpuSet || o.modeled {
			return usagef("--gpu and --model: they are for the defaults of one version; name it, one of %s", strings.Join(scenario.PolicyNames(), ", "))
		}
		var list []engineFacts
		for _, p := range scheduler.Presets() {
			list = append(list, factsOfEngine(p))
		}
		if json {
			return writeEnginesJSON(o.env.stdout, list)
		}
		return writeEngines(o.env.stdout, list)
	}
	p, err := scheduler.FindPreset(o.version)
	if err != nil {
		return usagef("%s", scenario.UnknownName("engine version", o.version, scenario.PolicyNames()))
	}
	f := factsOfEngine(p)
	f.GPU, f.Model = o.gpu, o.model
	if f.defaults, err = scenario.EngineDefaults(p, o.gpu, o.model); err != nil {
		return err
	}
	if json {
		return writeEngineJSON(o.env.stdout, f)
	}
	return writeEngine(o.env.stdout, f)
}

// engineFacts is what there is to print of an engine version. GPU and Model are
// what its defaults are for.
type engineFacts struct {
	scheduler.Preset
	recordings conform.Recordings
	GPU, Model string
	defaults   []scenario.EngineDefault
}

// factsOfEngine returns what is known of p on every device.
func factsOfEngine(p scheduler.Preset) engineFacts {
	r, _ := conform.RecordingsOf(p.Name)
	return engineFacts{Preset: p, recordings: r}
}

// how says how the schedules were obtained.
func (f *engineFacts) how() string {
	if f.Source.Executed {
		return "executed"
	}
	return "read"
}

// writeEngines prints a line about each version.
func writeEngines(out io.Writer, list []engineFacts) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "version\tpolicy\tsource\tschedules\texact\twhat")
	for _, f := range list {
		fmt.Fprintf(w, "%s\t%s\t%s %s\t%s\t%d of %d\t%s\n", f.Name, f.Config.Policy, f.Source.Repository, f.Source.Revision,
			f.how(), f.recordings.Exact, f.recordings.Recorded, f.Summary)
	}
	return w.Flush()
}

// writeEngine prints all of one version.
func writeEngine(out io.Writer, f engineFacts) error {
	var l lines
	l.item("Version", "%s: %s", f.Name, f.Summary)
	l.item("Policy", "%s", f.Config.Policy)
	l.item("Source", "%s %s, %s", f.Source.Repository, f.Source.Revision, f.Source.Scheduler)
	l.item("Schedules", "%s", f.schedules())
	for i, s := range f.Config.Switches() {
		name := ""
		if i == 0 {
			name = "Switches"
		}
		l.item(name, "%s = %s: %s", s.Name, s.Value, s.Meaning)
	}
	if _, err := io.WriteString(out, l.folded(0)+"\n"); err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "Limits by device\tserver: tokens\tsequences\toffline: tokens\tsequences")
	g := func(n int32) string { return analysis.Grouped(int64(n)) }
	for i, d := range f.Devices {
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\n", devices(d, i+1 == len(f.Devices) && i > 0),
			g(d.Serve.MaxNumBatchedTokens), g(d.Serve.MaxNumSeqs), g(d.Offline.MaxNumBatchedTokens), g(d.Offline.MaxNumSeqs))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(w, "\nDefaults of a server on %s for %s\n", f.GPU, f.Model)
	for _, d := range f.defaults {
		value, from := d.Value, d.From
		if value == "" {
			value, from = "-", "not given: "+d.Rule
		}
		if d.File != "" {
			from += "; " + d.File
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", d.Option, value, d.Unit, from)
	}
	return w.Flush()
}

// schedules says how the schedules of f are known to be the engine's.
func (f *engineFacts) schedules() string {
	text := "by reading the source, for none was executed"
	if f.Source.Executed {
		text = "recorded by running the engine's own scheduler"
	}
	text += fmt.Sprintf("; %d of %d public recordings are reproduced exactly", f.recordings.Exact, f.recordings.Recorded)
	if f.recordings.Skipped != "" {
		text += ", the others need what isn't modelled: " + f.recordings.Skipped
	}
	return text
}

// devices says which devices limits are for; rest tells that others come before.
func devices(d scheduler.DeviceLimits, rest bool) string {
	switch {
	case d.MinBytes == 0 && rest:
		return "all others"
	case d.MinBytes == 0:
		return "all"
	}
	text := fmt.Sprintf("from %.0f GiB", d.MinBytes/(1<<30))
	if d.Not != "" {
		text += ", no " + strings.ToUpper(d.Not)
	}
	return text
}
