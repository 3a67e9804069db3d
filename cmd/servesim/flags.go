package main

import (
	"strings"

	"servesim/sim/gpu"

	"github.com/spf13/cobra"
)

// scenarioFlags are the flags that choose and change a scenario, the same for
// every verb that runs one.
type scenarioFlags struct {
	sets    []string
	trace   string
	goodput string
	short   [len(shortFlags)]string
}

// A shortFlag is a flag that stands for --set of one key.
type shortFlag struct {
	name, key, help string
	values          func() []string // for completion
}

// shortFlags lists them. They are few: everything else is --set.
var shortFlags = [...]shortFlag{
	{"policy", "engine.policy", "engine version, such as vllm@0.20", policyNames},
	{"gpu", "hardware.gpu", "GPU profile, or the path of one", gpu.ProfileNames},
	{"tp", "hardware.tensor_parallel_size", "GPUs that share each layer", func() []string { return []string{"1", "2", "4", "8"} }},
	{"model", "model.name", "model, or the path of its config.json", gpu.ModelNames},
	{"dtype", "model.dtype", "format of the weights: bf16, fp8 or fp4", func() []string { return []string{"bf16", "fp8", "fp4"} }},
	{"format", "workload.format", "format of the trace, if its content doesn't tell", formatNames},
	{"seed", "seed", "seed of every random draw", nil},
}

// bind adds the flags to cmd.
func (f *scenarioFlags) bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.sets, "set", nil, "set one key of the scenario, `KEY=VALUE`; may be repeated")
	flags.StringVar(&f.trace, "trace", "", "replay the trace in `FILE` instead of the scenario's workload")
	flags.StringVar(&f.goodput, "goodput", "", "limits that a good request meets, in ms, such as \"ttft:500 tpot:15 e2el:2000\"")
	for i, s := range shortFlags {
		flags.StringVar(&f.short[i], s.name, "", s.help)
		if s.values != nil {
			must(cmd.RegisterFlagCompletionFunc(s.name, cobra.FixedCompletions(s.values(), cobra.ShellCompDirectiveNoFileComp)))
		}
	}
	must(cmd.RegisterFlagCompletionFunc("set", completeKey))
}

// source returns the scenario that the flags and the arguments name.
func (f *scenarioFlags) source(args []string) (source, error) {
	src := source{trace: f.trace}
	if len(args) > 0 {
		src.path = args[0]
	}
	for i, s := range shortFlags {
		if v := f.short[i]; v != "" {
			src.settings = append(src.settings, setting{key: s.key, value: flagValue(s.name, v), text: v, flag: "--" + s.name})
		}
	}
	if f.goodput != "" {
		src.settings = append(src.settings, setting{key: "slo.goodput", value: f.goodput, text: f.goodput, flag: "--goodput"})
	}
	for _, text := range f.sets {
		s, err := parseSetting(text)
		if err != nil {
			return source{}, err
		}
		s.flag = "--set"
		src.settings = append(src.settings, s)
	}
	return src, nil
}

// flagValue returns the value of a short flag: a number where the key is one,
// the text itself where it's a name, even one that looks like a number.
func flagValue(name, text string) any {
	if name == "tp" || name == "seed" {
		return tomlValue(text)
	}
	return text
}

// completeKey completes the key of --set.
func completeKey(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	var list []string
	for _, k := range scenarioKeys() {
		if strings.HasPrefix(k, begun) {
			list = append(list, k+"=")
		}
	}
	return list, cobra.ShellCompDirectiveNoSpace | cobra.ShellCompDirectiveNoFileComp
}

// completeTOML completes the path of a scenario file.
func completeTOML(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return []string{"toml"}, cobra.ShellCompDirectiveFilterFileExt
}

// must panics on an error that only a fault of this program can cause.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
