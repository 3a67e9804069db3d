package main

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"

	"servesim/internal/conform"
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
finishes and free blocks. It exits with 1 if any differs, and says where first.`,
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
		return usagef("--policy: %s", unknownName("engine version or policy", o.policy, conformNames()))
	}
	failed := false
	for _, path := range o.paths {
		vectors, err := readVectors(path)
		if err != nil {
			return err
		}
		t := tally{skipped: map[string]int{}}
		for _, v := range vectors {
			r, err := conform.Replay(v, o.policy, conform.Policy)
			if err != nil {
				return &usageError{fmt.Errorf("%s: %w", path, err)}
			}
			t.add(r)
		}
		if err := t.write(o.env.stdout, path); err != nil {
			return err
		}
		failed = failed || len(t.differ) > 0
	}
	if failed {
		return errMismatch
	}
	return nil
}

// conformNames lists what --policy takes: engine versions, then policies.
func conformNames() []string {
	names := policyNames()
	for _, p := range scheduler.Policies() {
		names = append(names, p.Name)
	}
	return names
}

// readVectors reads a file of recorded schedules. What is wrong with it is a
// fault of the command line.
func readVectors(path string) ([]conform.Vector, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &usageError{err}
	}
	defer f.Close()
	vectors, err := conform.Read(f, path)
	if err != nil {
		return nil, &usageError{err}
	}
	return vectors, nil
}

// A tally counts what became of the vectors of a file.
type tally struct {
	exact   int
	differ  []conform.Result
	skipped map[string]int
}

// add counts one result.
func (t *tally) add(r conform.Result) {
	switch {
	case r.Skip != "":
		t.skipped[r.Skip]++
	case r.Diff != "":
		t.differ = append(t.differ, r)
	default:
		t.exact++
	}
}

// write prints the counts and every difference.
func (t *tally) write(out io.Writer, path string) error {
	skipped := 0
	for _, n := range t.skipped { // a sum; order doesn't matter
		skipped += n
	}
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, "%s: %d of %d replayed schedules match exactly, %d skipped\n", path, t.exact, t.exact+len(t.differ), skipped)
	for _, r := range t.differ {
		fmt.Fprintf(w, "  differs  %s (%s): %s\n", r.Vector.Name, r.Preset, r.Diff)
	}
	for _, why := range slices.Sorted(maps.Keys(t.skipped)) {
		fmt.Fprintf(w, "  skipped  %d: %s\n", t.skipped[why], why)
	}
	return w.Flush()
}
