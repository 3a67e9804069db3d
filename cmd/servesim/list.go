package main

import (
	"fmt"
	"strings"
	"text/tabwriter"

	"servesim/internal/strict"
	"servesim/scenario"
	"servesim/sim/engine"
	"servesim/sim/gpu"
	"servesim/sim/scheduler"
	"servesim/sim/workload"
	"servesim/sweep"

	"github.com/spf13/cobra"
)

// A listOptions is what `servesim list` was asked for.
type listOptions struct {
	env  env
	kind string
}

// A listing is a kind of thing that a scenario names, and how to list it: a
// name and a line about each.
type listing struct {
	kind  string
	items func() [][2]string
}

// listings is the whole list: a new kind is one line here.
func listings() []listing {
	return []listing{
		{"policies", listPolicies},
		{"gpus", func() [][2]string { return bare(gpu.ProfileNames()) }},
		{"models", func() [][2]string { return bare(gpu.ModelNames()) }},
		{"routers", listRouters},
		{"slos", scenario.ListSLOs},
		{"presets", listPresets},
		{"formats", scenario.TraceFormats},
		{"dialects", listDialects},
		{"exports", listExports},
		{"keys", scenario.ListKeys},
		{"columns", listColumns},
	}
}

// newList returns the verb list, which calls run, or runList if that is nil.
func newList(e env, run func(listOptions) error) *cobra.Command {
	if run == nil {
		run = runList
	}
	var kinds []string
	for _, l := range listings() {
		kinds = append(kinds, l.kind)
	}
	return &cobra.Command{
		Use:       "list KIND",
		Short:     "List what a scenario or a flag can name: " + strings.Join(kinds, ", "),
		Example:   "  servesim list policies\n  servesim list presets",
		Args:      arguments(cobra.ExactArgs(1)),
		ValidArgs: kinds,
		RunE:      func(_ *cobra.Command, args []string) error { return run(listOptions{e, args[0]}) },
	}
}

// runList prints one listing.
func runList(o listOptions) error {
	var kinds []string
	for _, l := range listings() {
		if l.kind != o.kind {
			kinds = append(kinds, l.kind)
			continue
		}
		w := tabwriter.NewWriter(o.env.stdout, 0, 0, 2, ' ', 0)
		for _, item := range l.items() {
			fmt.Fprintln(w, strings.TrimRight(item[0]+"\t"+item[1], "\t"))
		}
		return w.Flush()
	}
	return usagef("list %s: there is no such kind; %s", o.kind, strict.Unlike(o.kind, kinds))
}

// bare makes items of names about which there is nothing to say.
func bare(names []string) [][2]string {
	items := make([][2]string, len(names))
	for i, n := range names {
		items[i][0] = n
	}
	return items
}

// listPolicies lists the engine versions.
func listPolicies() [][2]string {
	var items [][2]string
	for _, p := range scheduler.Presets() {
		items = append(items, [2]string{p.Name, p.Summary})
	}
	return items
}

// listRouters lists who can choose the replica of a request.
func listRouters() [][2]string {
	var items [][2]string
	for _, r := range engine.Routers() {
		items = append(items, [2]string{r.Name, r.Summary})
	}
	return items
}

// listColumns lists the columns of the results of sweeps.
func listColumns() [][2]string {
	items := [][2]string{{"COLUMN", "BETTER"}}
	for _, c := range sweep.Columns() {
		better := map[int]string{1: "more", -1: "less"}[c.Better]
		items = append(items, [2]string{c.Name, better})
	}
	return items
}

// listPresets lists the drawn workloads.
func listPresets() [][2]string {
	var items [][2]string
	for _, p := range workload.Presets() {
		items = append(items, [2]string{p.Name, p.Description})
	}
	return items
}
