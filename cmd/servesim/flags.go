package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"servesim/analysis"
	"servesim/scenario"

	"github.com/spf13/cobra"
)

// scenarioFlags are the flags that choose and change a scenario, the same for
// every verb that runs one.
type scenarioFlags struct {
	sets    []string
	trace   string
	goodput string
	short   []string
}

// bind adds the flags to cmd.
func (f *scenarioFlags) bind(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.trace, "trace", "", "replay the trace in `FILE` instead of the scenario's workload")
	flags.StringVar(&f.goodput, "goodput", "", "limits of a good request, such as \"ttft <= 500ms, tpot <= 15ms\" or vLLM's \"ttft:500 tpot:15\", and of the run, \"ttft p99 <= 800ms\"")
	f.bindKeys(cmd, func(scenario.Alias) bool { return true })
}

// bindMachine adds those of the flags that say which engine runs which model on what.
func (f *scenarioFlags) bindMachine(cmd *cobra.Command) {
	f.bindKeys(cmd, func(s scenario.Alias) bool {
		section, _, _ := strings.Cut(s.Key, ".")
		return slices.Contains([]string{"engine", "hardware", "model"}, section)
	})
}

// bindKeys adds --set and the flags that are short for keys, if of wants them.
func (f *scenarioFlags) bindKeys(cmd *cobra.Command, of func(scenario.Alias) bool) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.sets, "set", nil, "set one key of the scenario, `KEY=VALUE`; may be repeated")
	f.short = make([]string, len(scenario.Aliases()))
	for i, s := range scenario.Aliases() {
		if !of(s) {
			continue
		}
		flags.StringVar(&f.short[i], s.Name, "", s.Help)
		if s.Values != nil {
			must(cmd.RegisterFlagCompletionFunc(s.Name, func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
				return s.Values(), cobra.ShellCompDirectiveNoFileComp // listed when asked for: some are read from files
			}))
		}
	}
	must(cmd.RegisterFlagCompletionFunc("set", completeSet))
}

// source returns the scenario that the flags of cmd and the arguments name.
func (f *scenarioFlags) source(cmd *cobra.Command, args []string) (scenario.Source, error) {
	if err := f.empty(cmd); err != nil {
		return scenario.Source{}, err
	}
	src := scenario.Source{Command: f.command(cmd, args), Stdin: cmd.InOrStdin()}
	if len(args) > 0 {
		src.Path = args[0]
	}
	if f.trace != "" {
		src.Settings = append(src.Settings, scenario.Setting{Key: "workload.trace", Value: f.trace, Text: f.trace, Flag: "--trace", Replay: true})
	}
	for i, s := range scenario.Aliases() {
		if v := f.short[i]; v != "" {
			src.Settings = append(src.Settings, scenario.Setting{Key: s.Key, Value: flagValue(s.Name, v), Text: v, Flag: "--" + s.Name})
		}
	}
	if f.goodput != "" {
		src.Settings = append(src.Settings, scenario.Setting{Key: "slo.goodput", Value: f.goodput, Text: f.goodput, Flag: "--goodput"})
	}
	for _, text := range f.sets {
		s, err := scenario.ParseSetting(text)
		if err != nil {
			return scenario.Source{}, err
		}
		s.Flag = "--set"
		src.Settings = append(src.Settings, s)
	}
	return src, scenario.Conflicts(src.Settings)
}

// valued lists the flags that take one value, in the order in which command
// writes them.
func valued() []string {
	names := []string{scenario.TraceAlias}
	for _, s := range scenario.Aliases() {
		names = append(names, s.Name)
	}
	return append(names, "goodput", "records", "html", "perfetto", "percentiles", "output-edges", "output")
}

// empty returns a fault for each flag of cmd that was given and has no value.
func (f *scenarioFlags) empty(cmd *cobra.Command) error {
	var faults []error
	for _, name := range valued() {
		if cmd.Flags().Changed(name) && cmd.Flags().Lookup(name).Value.String() == "" {
			faults = append(faults, fmt.Errorf("--%s is empty; give it a value, or leave the flag out", name))
		}
	}
	if err := errors.Join(faults...); err != nil {
		return &scenario.UsageError{Err: err}
	}
	return nil
}

// command writes the command that was given, for messages that complete it.
func (f *scenarioFlags) command(cmd *cobra.Command, args []string) string {
	words := append([]string{"servesim", cmd.Name()}, args...)
	flags := cmd.Flags()
	for _, name := range valued() {
		if flags.Changed(name) {
			words = append(words, "--"+name, flags.Lookup(name).Value.String())
		}
	}
	for _, name := range []string{"set", "vary", "export"} {
		list, _ := flags.GetStringArray(name) // none of a flag that cmd doesn't have
		for _, v := range list {
			words = append(words, "--"+name, v)
		}
	}
	for _, name := range []string{"json", "print"} {
		if flags.Changed(name) {
			words = append(words, "--"+name)
		}
	}
	for i, w := range words {
		if strings.ContainsAny(w, " '\"{}[]()<>|&;$*?\\`#~!") {
			words[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// looseLimits returns a fault if an argument is a limit that the shell parted from
// those of --goodput.
func looseLimits(cmd *cobra.Command, args []string) error {
	limits := []string{cmd.Flags().Lookup("goodput").Value.String()}
	for _, a := range args {
		if _, err := analysis.ParseSLO(a); err == nil {
			limits = append(limits, a)
		}
	}
	if len(limits) == 1 || !cmd.Flags().Changed("goodput") {
		return nil
	}
	return usagef("%s: looks like another limit of --goodput, not a scenario file; quote the limits: --goodput %q", limits[1], strings.Join(limits, " "))
}

// flagValue returns the value of a short flag: a number where the key is one,
// the text itself where it's a name, even one that looks like a number.
func flagValue(name, text string) any {
	if name == "tp" || name == "seed" {
		return scenario.TOMLValue(text)
	}
	return text
}

// completeKey completes the key of --set.
func completeKey(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	var list []string
	names := append(scenario.Keys(), scenario.TraceAlias)
	for _, s := range scenario.Aliases() {
		names = append(names, s.Name)
	}
	for i, k := range names {
		if k == "name" {
			k = scenario.TitleKey
		}
		if strings.HasPrefix(k, begun) && slices.Index(names, names[i]) == i {
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
