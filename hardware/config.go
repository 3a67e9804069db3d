package hardware

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"servesim/analysis"
	"servesim/scenario"
	"servesim/sim/gpu"
)

// A Config is what serves, as people write it: GPU[:DTYPE][:tpN].
type Config struct {
	// Text is how it was written.
	Text string
	// GPU is the name of a profile or the path of one.
	GPU string
	// Dtype is the format of the weights, "" for the scenario's.
	Dtype gpu.Format
	// TP is the number of GPUs that share each layer, 0 for the scenario's.
	TP int64
}

// Grammar is how a Config is written.
const Grammar = "GPU[:DTYPE][:tpN], such as h100, h100:fp8 or b200:nvfp4:tp4"

// ParseConfig reads a configuration. The error is a scenario.UsageError.
func ParseConfig(text string) (Config, error) {
	c := Config{Text: text}
	fault := func(format string, args ...any) (Config, error) {
		return c, usagef("%s: %w; a configuration is "+Grammar, text, fmt.Errorf(format, args...))
	}
	parts := strings.Split(text, ":")
	c.GPU = parts[0]
	for _, part := range parts[1:] {
		n, tp := strings.CutPrefix(strings.ToLower(part), "tp")
		switch {
		case tp && c.TP != 0, !tp && c.Dtype != "":
			return fault("%q says again what is said already", part)
		case tp:
			size, err := strconv.ParseInt(n, 10, 64)
			if err != nil || !slices.Contains([]int64{1, 2, 4, 8}, size) { // those of hardware.tensor_parallel_size
				return fault("found %q; must be tp1, tp2, tp4 or tp8", part)
			}
			c.TP = size
		default:
			format, err := gpu.ParseFormat(part)
			if err != nil {
				return fault("%w", err)
			}
			c.Dtype = format
		}
	}
	if _, err := gpu.LoadProfile(c.GPU); err != nil {
		return fault("%w", err)
	}
	return c, nil
}

// settings returns what c says of a scenario.
func (c *Config) settings() []scenario.Setting {
	set := func(key string, value any) scenario.Setting {
		return scenario.Setting{Key: key, Value: value, Text: c.Text, Flag: "configuration"}
	}
	list := []scenario.Setting{set(gpuKey, c.GPU)}
	if c.Dtype != "" {
		list = append(list, set(dtypeKey, string(c.Dtype)))
	}
	if c.TP != 0 {
		list = append(list, set(tpKey, c.TP))
	}
	return list
}

// The keys of a scenario that a Config gives.
const (
	gpuKey   = "hardware.gpu"
	dtypeKey = "model.dtype"
	tpKey    = "hardware.tensor_parallel_size"
)

// checkConfigs returns the fault of a list of configurations, and of settings of src
// that would do nothing beside them.
func checkConfigs(src *scenario.Source, configs []Config) error {
	if len(configs) < 2 {
		return usagef("found %s to compare; give two or more, each "+Grammar, analysis.Counted(int64(len(configs)), "configuration"))
	}
	all := func(says func(c Config) bool) bool {
		return !slices.ContainsFunc(configs, func(c Config) bool { return !says(c) })
	}
	for _, s := range src.Settings {
		switch {
		case s.Key == gpuKey:
			return usagef("%s: the configurations name the GPUs; leave it out", s)
		case s.Key == dtypeKey && all(func(c Config) bool { return c.Dtype != "" }),
			s.Key == tpKey && all(func(c Config) bool { return c.TP != 0 }):
			return usagef("%s: each configuration says its own; leave it out", s)
		}
	}
	return nil
}

// usagef returns a scenario.UsageError with a formatted text.
func usagef(format string, args ...any) error {
	return &scenario.UsageError{Err: fmt.Errorf(format, args...)}
}
