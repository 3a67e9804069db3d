package main

import (
	"context"
	"fmt"
	"strings"

	"servesim/internal/strict"
	"servesim/scenario"
	"servesim/sim/gpu"

	"github.com/spf13/cobra"
)

// A fitOptions is what `servesim fit` was asked for.
type fitOptions struct {
	env      env
	data     []string // files and folders
	gpu      string   // the profile to begin with, empty for the scenario's
	engine   string   // whose constants are fitted, empty for the scenario's
	scenario string   // how the measured server was run
	sets     []string
	short    []string // values of serverAliases
	output   string
	name     string
	given    func(flag string) bool
	command  string
}

// serverAliases lists the short flags that say how a server was run, beside --gpu.
func serverAliases() []scenario.Alias {
	var list []scenario.Alias
	for _, a := range scenario.Aliases() {
		switch a.Name {
		case "policy", "tp", "model", "dtype":
			list = append(list, a)
		}
	}
	return list
}

// newFit returns the verb fit, which calls run, or runFit if that is nil.
func newFit(e env, run func(context.Context, *fitOptions) error) *cobra.Command {
	if run == nil {
		run = runFit
	}
	o := &fitOptions{env: e}
	cmd := &cobra.Command{
		Use:     "fit DATA...",
		Aliases: []string{"calibrate"},
		Short:   "Fit a GPU profile to what was measured on a machine, and say what the data cannot tell",
		Long: `Fit the constants of a GPU profile to measurements, print each with its error, what a
fit on the rest makes of data that it did not see, and what the data cannot tell; with
--output, write a profile that is based on the one that the fit began with and says
what it was made of. Give its path as --gpu to every other verb.

DATA is told by its content:

  a folder of kernel tables    kernel_gemm.csv and its like: the kernels' coefficients
  a table of measured runs     as servesim validate reads it: an engine's constants, on
                               the rows whose split is calibration
  a server's log               of vLLM, at level INFO. Its start: memory and KV blocks,
                               beside what the memory ledger computes. Its lines of
                               statistics: the time of decode steps
  a benchmark's export         of vLLM's with --save-detailed, AIPerf, and others that
                               have each request: an engine's constants, so that TTFT
                               and TPOT come out as measured

Several files of one server are fitted together; gzip and zstd are unwrapped. For logs
and exports say how the server was run: a scenario file, or --model, --gpu, --tp and
--dtype. Of the scenario its machine and engine count, not its workload.`,
		Example: `  servesim fit server.log --scenario mine.toml
  servesim fit rate1.json rate4.json server.log --scenario mine.toml --output mine-h100.toml
  servesim fit start.log --model Llama-3.1-8B --gpu h100 --tp 1 --dtype bf16
  servesim fit runs.csv --gpu b200 --engine vllm`,
		Args: arguments(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.data, o.given = args, cmd.Flags().Changed
			o.command = "servesim fit " + strings.Join(args, " ")
			return run(cmd.Context(), o)
		},
	}
	o.bind(cmd)
	return cmd
}

// bind adds the flags to cmd.
func (o *fitOptions) bind(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.gpu, "gpu", "", "GPU profile to begin with, or the path of one (default the scenario's, else h100)")
	f.StringVar(&o.engine, "engine", "", "engine of the profile, such as vllm or trtllm (default the scenario's, else vllm)")
	f.StringVar(&o.scenario, "scenario", "", "scenario `FILE.toml` that says how the measured server was run")
	f.StringArrayVar(&o.sets, "set", nil, "set one key of the scenario, `KEY=VALUE`; may be repeated")
	o.short = make([]string, len(serverAliases()))
	for i, a := range serverAliases() {
		f.StringVar(&o.short[i], a.Name, "", a.Help)
		must(cmd.RegisterFlagCompletionFunc(a.Name, cobra.FixedCompletions(a.Values(), cobra.ShellCompDirectiveNoFileComp)))
	}
	f.StringVarP(&o.output, "output", "o", "", "write the fitted profile to `FILE.toml`")
	f.StringVar(&o.name, "name", "", "name of the fitted profile (default that of its file)")
	must(cmd.RegisterFlagCompletionFunc("gpu", cobra.FixedCompletions(gpu.ProfileNames(), cobra.ShellCompDirectiveNoFileComp)))
	must(cmd.RegisterFlagCompletionFunc("scenario", completeTOML))
	must(cmd.RegisterFlagCompletionFunc("set", completeSet))
}

// source returns the scenario that the flags describe.
func (o *fitOptions) source() (scenario.Source, error) {
	src := scenario.Source{Path: o.scenario, Command: o.command, Stdin: o.env.stdin}
	add := func(flag, key, text string, value any) {
		src.Settings = append(src.Settings, scenario.Setting{Key: key, Value: value, Text: text, Flag: "--" + flag})
	}
	if o.gpu != "" {
		add("gpu", "hardware.gpu", o.gpu, o.gpu)
	}
	if o.engine != "" {
		add("engine", "host.engine", o.engine, o.engine)
	}
	for i, a := range serverAliases() {
		if v := o.short[i]; v != "" {
			add(a.Name, a.Key, v, flagValue(a.Name, v))
		}
	}
	for _, text := range o.sets {
		s, err := scenario.ParseSetting(text)
		if err != nil {
			return src, err
		}
		s.Flag = "--set"
		src.Settings = append(src.Settings, s)
	}
	return src, scenario.Conflicts(src.Settings)
}

// check returns what is wrong with the flags themselves.
func (o *fitOptions) check() error {
	var faults []strict.Fault
	fault := func(key, format string, args ...any) {
		faults = append(faults, strict.Fault{Key: key, Text: fmt.Sprintf(format, args...)})
	}
	for _, f := range []struct{ name, value string }{{"gpu", o.gpu}, {"scenario", o.scenario}, {"output", o.output}, {"name", o.name}} {
		if o.given(f.name) && f.value == "" {
			fault("--"+f.name, "empty; give it a value, or leave the flag out")
		}
	}
	switch {
	case o.output == "" && o.name != "":
		fault("--name", "names a profile that is not written; give --output too")
	case o.output == scenario.StdinPath:
		fault("--output", "stdout is for the report; name a file")
	case o.output != "" && !strings.HasSuffix(strings.ToLower(o.output), ".toml"):
		fault("--output", "found %q; a profile is a file whose name ends in .toml, for that tells --gpu that it is one", o.output)
	}
	return scenario.FaultsError(faults)
}

// described tells whether something says how the measured server was run.
func (o *fitOptions) described() bool {
	if o.scenario != "" || len(o.sets) > 0 {
		return true
	}
	for _, v := range o.short {
		if v != "" {
			return true
		}
	}
	return false
}
