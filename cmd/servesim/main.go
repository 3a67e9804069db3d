package main

import (
	"context"
	"errors"
	"os"
	"time"

	"servesim/scenario"

	"github.com/spf13/cobra"
)

func main() {
	os.Exit(Main(untilSignal(), ofProcess(), os.Args[1:]))
}

// Main runs servesim with args, those after the program's name, in the world e
// and returns its exit code. Cancelling ctx ends a run early and cleanly.
func Main(ctx context.Context, e env, args []string) int {
	if e.stdin != nil {
		e.stdin = &interruptible{ctx: ctx, from: e.stdin}
	}
	began, errs := time.Now(), e
	e.level = &level{}
	e.stderr = &voice{e.stderr, e.level}
	paint := &painter{out: e.stdout}
	if e.colour {
		e.stdout = paint
	}
	plain := &plainWriter{out: e.stdout}
	e.stdout = plain
	root := newRoot(e)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	err = errors.Join(err, plain.flush(), paint.flush())
	e.took(cmd.Name()+" was done", began)
	return errs.report(err)
}

// newRoot returns the command with all its verbs.
func newRoot(e env) *cobra.Command {
	root := &cobra.Command{
		Use:   "servesim",
		Short: "Simulate an LLM serving engine on a request trace, and explain its tail latency",
		Long: `servesim replays a request trace through a discrete-event model of an LLM serving
engine on a GPU profile and reports TTFT, TPOT, ITL, the worst gap of each request, E2E and goodput.

Exit codes: 0 all went well, 1 the work failed, 2 the command line or a file that it
names is at fault, 3 a limit that had to be met was missed, 4 of servesim gate alone: too
close to call, more runs would tell.`,
		Example: `  servesim run
  servesim compare --vary enable_chunked_prefill=true,false
  servesim list policies`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("unknown command %q; see servesim --help", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(e.stdin)
	root.SetOut(e.stdout)
	root.SetErr(e.stderr)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usagef("%w; see %s --help", err, cmd.CommandPath())
	})
	if e.level == nil {
		e.level = &level{}
	}
	e.level.bind(root)
	root.AddCommand(verbs(e)...)
	return root
}

// verbs is the whole list: a new verb is one file and one line here.
func verbs(e env) []*cobra.Command {
	return []*cobra.Command{
		newRun(e, nil),
		newCompare(e, nil),
		newExplain(e, nil),
		newSweep(e, nil),
		newGate(e, nil),
		newCapacity(e, nil),
		newClaim(e, nil),
		newHardware(e, nil),
		newAnalyze(e, nil),
		newReport(e, nil),
		newTail(e, nil),
		newPlot(e, nil),
		newConform(e, nil),
		newEngines(e, nil),
		newModel(e, nil),
		newGPU(e, nil),
		newList(e, nil),
		newReproduce(e, nil),
		newValidate(e, nil),
		newFit(e, nil),
		newVersion(e, nil),
	}
}

// arguments wraps a cobra rule about arguments so that breaking it is a fault
// of the command line.
func arguments(rule cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		err := rule(cmd, args)
		var usage *scenario.UsageError
		if err == nil || errors.As(err, &usage) {
			return err
		}
		return usagef("%w; see %s --help", err, cmd.CommandPath())
	}
}
