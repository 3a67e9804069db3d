package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"servesim/internal/conform"
	"servesim/scenario"
	"servesim/sim/scheduler"

	"github.com/spf13/cobra"
)

// A conformOptions is what `servesim conform` was asked for.
type conformOptions struct {
	env    env
	paths  []string
	policy string
}

// newConform returns the verb conform, which calls run, or runConform if that
// is nil.
func newConform(e env, run func(conformOptions) error) *cobra.Command {
	if run == nil {
		run = runConform
	}
	o := conformOptions{env: e}
	cmd := &cobra.Command{
		Use:   "conform VECTORS.json...",
		Short: "Replay recorded schedules of real engines through the policies",
		Long: `Replay recorded schedules of real engines through the policies, and print how
many are reproduced exactly: tokens of every sequence in every step, preemptions,
finishes and free blocks. Those of TensorRT-LLM are not of the engine itself, but of a
model that was written from its source. "-" reads the recordings from stdin. It exits
with 1 if any differs, and says where first, and if there is none that it could replay.`,
		Example: "  servesim conform vectors/named.json vectors/random.json",
		Args:    arguments(cobra.MinimumNArgs(1)),
		RunE: func(_ *cobra.Command, args []string) error {
			o.paths = args
			return run(o)
		},
	}
	cmd.Flags().StringVar(&o.policy, "policy", "", "engine version to replay through, whatever was recorded, or a policy (vllm-v1, vllm-v0) to replay only its own")
	must(cmd.RegisterFlagCompletionFunc("policy", cobra.FixedCompletions(conformNames(), cobra.ShellCompDirectiveNoFileComp)))
	return cmd
}

// runConform replays every file.
func runConform(o conformOptions) error {
	if o.policy != "" && !slices.Contains(conformNames(), o.policy) {
		return usagef("--policy: %s", scenario.UnknownName("engine version or policy", o.policy, conformNames()))
	}
	total := newTally()
	for _, path := range o.paths {
		vectors, err := readVectors(o.env, path)
		if err != nil {
			return err
		}
		t, bar := newTally(), newRunsProgress(o.env, pathName(path), len(vectors))
		for _, v := range vectors {
			r, err := conform.Replay(v, o.policy, conform.Policy)
			if err != nil {
				bar.finish()
				return &scenario.UsageError{Err: fmt.Errorf("%s: %w", path, err)}
			}
			t.add(r)
			total.add(r)
			bar.one()
		}
		bar.finish()
		if err := t.write(o.env.stdout, pathName(path)); err != nil {
			return err
		}
	}
	if len(o.paths) > 1 {
		if _, err := fmt.Fprintln(o.env.stdout, total.line(fmt.Sprintf("%d files", len(o.paths)))); err != nil {
			return err
		}
	}
	switch {
	case total.replayed() == 0:
		return errors.New("nothing was replayed: every recorded schedule was skipped, so this says nothing about the policies")
	case len(total.differ) > 0:
		return errMismatch
	}
	return nil
}

// conformNames lists what --policy takes: engine versions, then policies.
func conformNames() []string {
	names := scenario.PolicyNames()
	for _, p := range scheduler.Policies() {
		names = append(names, p.Name)
	}
	return names
}

// readVectors reads a file of recorded schedules, or standard input. What is
// wrong with it is a fault of the command line.
func readVectors(e env, path string) ([]conform.Vector, error) {
	in, err := e.open(path)
	if err != nil {
		return nil, &scenario.UsageError{Err: err}
	}
	defer in.Close()
	vectors, err := conform.Read(in, pathName(path))
	if err != nil {
		return nil, &scenario.UsageError{Err: err}
	}
	return vectors, nil
}

// A tally counts what became of vectors.
type tally struct {
	exact   int
	read    int // replayed schedules that follow from reading the engine
	differ  []conform.Result
	skipped map[string]int
}

// newTally returns a tally of nothing.
func newTally() *tally { return &tally{skipped: map[string]int{}} }

// add counts one result.
func (t *tally) add(r conform.Result) {
	if p, err := scheduler.FindPreset(r.Vector.Preset()); r.Skip == "" && err == nil && !p.Source.Executed {
		t.read++
	}
	switch {
	case r.Skip != "":
		t.skipped[r.Skip]++
	case r.Diff != "":
		t.differ = append(t.differ, r)
	default:
		t.exact++
	}
}

// replayed returns how many vectors were not skipped.
func (t *tally) replayed() int { return t.exact + len(t.differ) }

// line sums up what t counted of what is called name.
func (t *tally) line(name string) string {
	skipped := 0
	for _, n := range t.skipped { // a sum; order doesn't matter
		skipped += n
	}
	return fmt.Sprintf("%s: %d of %d replayed schedules match exactly, %d skipped", name, t.exact, t.replayed(), skipped)
}

// write prints the counts and every difference.
func (t *tally) write(out io.Writer, path string) error {
	w := bufio.NewWriter(out)
	fmt.Fprintln(w, t.line(path))
	for _, r := range t.differ {
		fmt.Fprintf(w, "  differs  %s [%s] replayed as %s: %s\n", r.Vector.Name, r.Vector.Label, r.Preset, r.Diff)
	}
	if t.read > 0 {
		fmt.Fprintf(w, "  read     %d: not recorded from an engine that ran, but from a model of it that was written from its source\n", t.read)
	}
	for _, why := range slices.Sorted(maps.Keys(t.skipped)) {
		fmt.Fprintf(w, "  skipped  %d: %s\n", t.skipped[why], why)
	}
	return w.Flush()
}
