package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"servesim/calibrate"
	"servesim/scenario"
	"servesim/sim/gpu"
	"servesim/sim/observe"
)

// write writes the profile if it was asked for.
func (f *fitting) write() error {
	if f.o.output == "" {
		return nil
	}
	if f.result == nil && f.kernels == "" {
		return usagef("--output: nothing of a profile was fitted, so there is none to write; what the log says of blocks and memory belongs to a scenario")
	}
	text, err := f.derived()
	if err != nil {
		return err
	}
	if _, err := gpu.ParseProfile(f.o.output, text); err != nil {
		return fmt.Errorf("the fitted profile is not one that loads: %w", err)
	}
	out, err := observe.CreateFile(f.o.output)
	if err != nil {
		return usagef("--output %w", err)
	}
	defer out.Abort()
	if _, err := out.Write([]byte(text)); err != nil {
		return err
	}
	return out.Commit()
}

// derived returns the text of the profile.
func (f *fitting) derived() (string, error) {
	sum, err := gpu.ProfileSHA256(f.base)
	if err != nil {
		return "", err
	}
	base := f.base
	if strings.HasSuffix(strings.ToLower(base), ".toml") || strings.ContainsAny(base, `/\`) {
		if base, err = filepath.Rel(filepath.Dir(f.o.output), f.base); err != nil {
			return "", fmt.Errorf("--output: no path from there to %s: %w", f.base, err)
		}
	}
	d := calibrate.Derived{Name: f.o.name, Base: filepath.ToSlash(base), Result: f.result, Kernels: f.kernels, KernelsOf: f.engine,
		Origin: gpu.Origin{Tool: "servesim fit " + scenario.Version(), BaseSHA256: sum, Warnings: slices.Clone(f.notes)}}
	if d.Name == "" {
		d.Name = strings.TrimSuffix(filepath.Base(f.o.output), filepath.Ext(f.o.output))
	}
	for _, in := range f.inputs {
		d.Origin.Inputs = append(d.Origin.Inputs, in.origin()...)
	}
	if f.result != nil {
		d.Origin.Engine = f.engine
		d.Origin.Warnings = append(d.Origin.Warnings, f.result.Warnings()...)
	}
	return d.TOML(), nil
}
