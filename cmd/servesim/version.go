package main

import (
	"fmt"

	"servesim/scenario"

	"github.com/spf13/cobra"
)

// A versionOptions is what `servesim version` works with.
type versionOptions struct{ env env }

// newVersion returns the verb version, which calls run, or runVersion if that
// is nil.
func newVersion(e env, run func(versionOptions) error) *cobra.Command {
	if run == nil {
		run = runVersion
	}
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of servesim",
		Example: "  servesim version",
		Args:    arguments(cobra.NoArgs),
		RunE:    func(*cobra.Command, []string) error { return run(versionOptions{e}) },
	}
}

// runVersion prints the version that the build carries.
func runVersion(o versionOptions) error {
	_, err := fmt.Fprintf(o.env.stdout, "servesim %s\n", scenario.Version())
	return err
}
