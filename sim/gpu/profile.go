package gpu

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"servesim/internal/strict"
	"servesim/profiles"
)

// Profile is what servesim knows of a GPU: what its datasheet says, and what was
// fitted on measurements. All times are in seconds, sizes in bytes, rates per
// second and GPU. The formulas that the coefficients belong to stand in the
// profile files and in this package, one file an operator.
type Profile struct {
	Schema int64  `toml:"schema" want:"count"`
	Name   string `toml:"name"`
	// Base names the profile whose values are those that this one does not give, as
	// LoadProfile has it; a path is from the folder of the file. It is empty if
	// there is none.
	Base      string        `toml:"base" want:"optional"`
	Datasheet Datasheet     `toml:"datasheet"`
	Memory    ProfileMemory `toml:"memory"`
	Fitted    Fitted        `toml:"fitted"`
	// Kernels is the coefficients of the operators, by the name of the engine
	// whose kernels they are.
	Kernels map[string]Kernels `toml:"kernels"`
	Engine  map[string]Engine  `toml:"engine"`
	// ReduceAlgorithms is the all-reduces of versions of engines, by name, then by
	// number of GPUs, in order of size.
	ReduceAlgorithms map[string]ReduceAlgorithms `toml:"reduce_algorithms" want:"optional"`
	// ExpertCaution is what a reader of step times should know of the experts of
	// a table of Kernels, by its name.
	ExpertCaution map[string]ExpertCaution `toml:"expert_caution" want:"optional"`
	// Price and Power are what running the GPU costs; nil if the file does not say.
	Price *Price `toml:"price" want:"optional"`
	Power *Power `toml:"power" want:"optional"`
	// Origin says what a fit made the profile of, nil if it was written by hand.
	Origin *Origin `toml:"origin" want:"optional"`
	// BaseChanged tells that the file that Base names is not the one that Origin was
	// fitted with.
	BaseChanged bool `toml:"-"`
	// Root is the name of the profile at the end of its bases, its own without any:
	// what measurements call the GPU.
	Root string `toml:"-"`
}

// ExpertCaution is a sentence about experts whose weights have a format.
type ExpertCaution struct {
	Format Format `toml:"format"`
	Text   string `toml:"text"`
}

// Datasheet is what the maker prints. No step time depends on it, but no rate of
// a profile may be above it.
type Datasheet struct {
	BF16FlopPerS    float64 `toml:"bf16_flop_per_s" want:"rate"`
	FP8FlopPerS     float64 `toml:"fp8_flop_per_s" want:"rate"`
	FP4FlopPerS     float64 `toml:"fp4_flop_per_s" want:"rate,optional"` // 0 if the GPU has none
	HBMBytes        float64 `toml:"hbm_bytes" want:"size"`
	HBMBytesPerS    float64 `toml:"hbm_bytes_per_s" want:"rate"`
	L2Bytes         float64 `toml:"l2_bytes" want:"size"`
	NVLinkBytesPerS float64 `toml:"nvlink_bytes_per_s" want:"rate"` // both directions together
	TDPW            float64 `toml:"tdp_w" want:"power"`
}

// ProfileMemory is the memory of the GPU and what the runtime takes of it.
type ProfileMemory struct {
	UsableBytes     float64 `toml:"usable_bytes" want:"size"`      // what the driver reports as total
	ContextBytes    float64 `toml:"context_bytes" want:"bytes"`    // CUDA context, libraries
	CollectiveBytes float64 `toml:"collective_bytes" want:"bytes"` // buffers of a replica of several GPUs
	GraphBytes      float64 `toml:"graph_bytes" want:"bytes"`      // CUDA graphs that count against the share
}

// Fitted is the coefficients that all engines share.
type Fitted struct {
	Elementwise Elementwise `toml:"elementwise"`
	LMHead      LMHead      `toml:"lm_head"`
	Range       FittedRange `toml:"range"`
}

// FittedRange is the work that the measurements cover. Steps outside are
// extrapolated.
type FittedRange struct {
	StepTokensMax    int64 `toml:"step_tokens_max" want:"count"`
	PromptTokensMax  int64 `toml:"prompt_tokens_max" want:"count"`
	DecodeSeqsMax    int64 `toml:"decode_seqs_max" want:"count"`
	ContextTokensMax int64 `toml:"context_tokens_max" want:"count"`
	// GEMMWidthMax and GEMMDepthMax are the largest n and k of a matrix product.
	GEMMWidthMax int64 `toml:"gemm_width_max" want:"count,optional"`
	GEMMDepthMax int64 `toml:"gemm_depth_max" want:"count,optional"`
}

// LoadProfile reads the profile that ships under name, in any case, or, if name
// holds a / or ends in .toml, the file at that path, and the profile that it is
// based on. The error joins every fault of the files, each with its line and key.
func LoadProfile(name string) (*Profile, error) {
	file, text, err := openProfile(name)
	if err != nil {
		return nil, err
	}
	return readProfile(file, text)
}

// shippedProfile returns the file of the profile that ships under name, and its text.
func shippedProfile(name string) (file, text string, err error) {
	file = strings.ToLower(name) + ".toml"
	b, err := profiles.FS.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return file, "", fmt.Errorf("no GPU profile is called %q; %s; a name with a / or .toml is the path of a profile file",
			name, strict.Unlike(strings.ToLower(name), ProfileNames()))
	} else if err != nil {
		return file, "", fmt.Errorf("no GPU profile is called %q: %w", name, err)
	}
	return file, string(b), nil
}

// ProfileNames returns the names of the profiles that ship, sorted.
func ProfileNames() []string { return tomlNames(profiles.FS) }

// ParseProfile reads the text of a profile as LoadProfile does; file is its name in
// errors, and its folder is where a base that is a path is from.
func ParseProfile(file, text string) (*Profile, error) { return readProfile(file, text) }

// readProfile reads the text of a profile; file is its name in errors.
func readProfile(file, text string) (*Profile, error) {
	tree, err := readTree(file, text, nil)
	if err != nil {
		return nil, err
	}
	var p Profile
	where := tree.where
	if err := strict.Join(strict.Rules{Ranges: ranges(), Whole: true}.Decode(tree.values, &p, where)); err != nil {
		return nil, err
	}
	p.Root = tree.root
	if o := p.Origin; o != nil && o.BaseSHA256 != "" {
		p.BaseChanged = o.BaseSHA256 != tree.baseSum
	}
	var faults []strict.Fault
	fault := func(key, format string, args ...any) {
		faults = append(faults, strict.Fault{Where: where(key), Key: key, Text: fmt.Sprintf(format, args...)})
	}
	if len(p.Engine) == 0 {
		fault("engine", "found nothing in it; give at least one table [engine.NAME]")
	}
	p.checkKernels(fault)
	p.checkLimits(fault)
	p.checkCosts(fault)
	for _, name := range sortedKeys(p.ExpertCaution) {
		format := p.ExpertCaution[name].Format
		if _, ok := p.Kernels[name].MoE[string(format)]; !ok {
			fault("expert_caution."+name+".format", "found %q; must be a format of kernels.%s.moe: %s", format, name, strings.Join(sortedKeys(p.Kernels[name].MoE), ", "))
		}
	}
	if p.Memory.UsableBytes > p.Datasheet.HBMBytes {
		fault("memory.usable_bytes", "found %.0f; must be at most datasheet.hbm_bytes, %.0f", p.Memory.UsableBytes, p.Datasheet.HBMBytes)
	}
	if err := strict.Join(faults); err != nil {
		return nil, err
	}
	return &p, nil
}

// tomlNames returns the names of the TOML files of a folder, sorted, without
// their ending.
func tomlNames(fsys fs.FS) []string {
	files, _ := fs.Glob(fsys, "*.toml") // sorted; the pattern is well formed
	for i, f := range files {
		files[i] = strings.TrimSuffix(f, ".toml")
	}
	return files
}
