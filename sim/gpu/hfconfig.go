package gpu

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
)

// hfType is a model_type of Hugging Face that this package understands.
type hfType struct {
	name        string
	experts     string // the key that counts the experts, or empty
	expertWidth string // the key of their width
}

// hfTypes returns the model types: transformers with grouped-query attention
// whose layers are all alike, dense or with experts only.
func hfTypes() []hfType {
	return []hfType{
		{name: "llama"},
		{name: "mistral"},
		{name: "qwen2"},
		{name: "qwen3"},
		{name: "mixtral", experts: "num_local_experts", expertWidth: "intermediate_size"},
		{name: "qwen3_moe", experts: "num_experts", expertWidth: "moe_intermediate_size"},
		{name: "gpt_oss", experts: "num_local_experts", expertWidth: "intermediate_size"},
	}
}

// hfForeign returns keys that a config of a type in hfTypes must not set,
// because they change what is computed, and what each stands for.
func hfForeign() [][2]string {
	return [][2]string{
		{"kv_lora_rank", "multi-head latent attention (MLA)"},
		{"q_lora_rank", "multi-head latent attention (MLA)"},
		{"n_routed_experts", "shared and routed experts"},
		{"n_shared_experts", "shared experts"},
		{"shared_expert_intermediate_size", "shared experts"},
		{"text_config", "a multimodal model"},
		{"vision_config", "a multimodal model"},
		{"is_encoder_decoder", "an encoder"},
		{"attn_layer_period", "layers without attention"},
		{"attention_chunk_size", "chunked local attention"},
		{"mlp_only_layers", "dense layers among the expert layers"},
	}
}

// readHFConfig reads a Hugging Face config.json; file is its name in errors.
// Keys that do not change the cost of a step are skipped. A type or a key that
// changes it in a way this package cannot follow is an error that names it.
func readHFConfig(file string, text []byte) (*Model, error) {
	c := hfConfig{file: file, text: text}
	decode := json.NewDecoder(bytes.NewReader(text))
	decode.UseNumber()
	if err := decode.Decode(&c.keys); err != nil {
		at := decode.InputOffset()
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			at = syntax.Offset
		}
		return nil, fmt.Errorf("%s:%d: not a config.json: %w", file, lineAt(text, at), err)
	}
	if _, err := decode.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s:%d: not a config.json: more follows the first object", file, lineAt(text, decode.InputOffset()))
	}
	kind, ok := c.kind()
	if !ok {
		return nil, errors.Join(c.faults...)
	}
	m := Model{Schema: schema, Name: folderName(file)}
	if name, ok := c.keys["_name_or_path"].(string); ok && name != "" {
		m.Name = name
	}
	m.WeightFormat = c.weightFormat()
	c.shape(&m)
	if kind.experts != "" {
		m.Experts = c.count(kind.experts, 0)
		m.ExpertsPerToken = c.count("num_experts_per_tok", 0)
		m.ExpertWidth = c.count(kind.expertWidth, 0)
		if step := c.count("decoder_sparse_step", 1); step != 1 {
			c.fault("decoder_sparse_step", "is %d: dense layers among the expert layers are not supported", step)
		}
	}
	c.windows(&m, kind)
	if err := errors.Join(c.faults...); err != nil {
		return nil, err
	}
	return &m, m.check(file)
}

// folderName returns the name of the folder that file is in, which is what a model
// whose config.json doesn't say is called, or that of the file itself if the
// folder has none.
func folderName(file string) string {
	whole, err := filepath.Abs(file)
	if err != nil {
		whole = file
	}
	if name := filepath.Base(filepath.Dir(whole)); name != "." && name != string(filepath.Separator) {
		return name
	}
	return filepath.Base(file)
}

// found writes a value of a config.json as an error quotes it.
func found(v any) string {
	if s, ok := v.(string); ok {
		return fmt.Sprintf("the string %q", s)
	}
	return fmt.Sprint(v)
}

// hfConfig is a config.json being read.
type hfConfig struct {
	file   string
	text   []byte
	keys   map[string]any
	faults []error
}

func (c *hfConfig) fault(key, format string, args ...any) {
	at := c.file
	if i := bytes.Index(c.text, []byte(`"`+key+`"`)); i >= 0 {
		at = fmt.Sprintf("%s:%d", c.file, lineAt(c.text, int64(i)))
	}
	c.faults = append(c.faults, fmt.Errorf("%s: %s %s", at, key, fmt.Sprintf(format, args...)))
}

// kind returns the model type, and ok false, with faults, if it or a key is not
// supported.
func (c *hfConfig) kind() (kind hfType, ok bool) {
	var names []string
	for _, t := range hfTypes() {
		names = append(names, t.name)
		if c.keys["model_type"] == t.name {
			kind, ok = t, true
		}
	}
	for _, f := range hfForeign() {
		switch v := c.keys[f[0]].(type) {
		case nil:
		case bool:
			if v {
				c.fault(f[0], "stands for %s, which is not supported", f[1])
			}
		case []any:
			if len(v) > 0 {
				c.fault(f[0], "stands for %s, which is not supported", f[1])
			}
		default:
			c.fault(f[0], "stands for %s, which is not supported", f[1])
		}
	}
	if !ok {
		found := "missing"
		if v, has := c.keys["model_type"]; has {
			found = fmt.Sprintf("%q", fmt.Sprint(v))
		}
		c.fault("model_type", "is %s; supported are %s", found, strings.Join(names, ", "))
	}
	return kind, ok && len(c.faults) == 0
}

// shape reads what every type has. A head_dim or num_key_value_heads that is
// missing has the value that transformers gives it.
func (c *hfConfig) shape(m *Model) {
	m.Layers = c.count("num_hidden_layers", 0)
	m.Hidden = c.count("hidden_size", 0)
	m.Heads = c.count("num_attention_heads", 0)
	m.KVHeads = c.count("num_key_value_heads", m.Heads)
	m.Intermediate = c.count("intermediate_size", 0)
	m.Vocab = c.count("vocab_size", 0)
	m.MaxContextTokens = c.count("max_position_embeddings", 0)
	m.HeadDim = c.count("head_dim", m.Hidden/max(1, m.Heads))
	switch v := c.keys["tie_word_embeddings"].(type) {
	case nil: // these types default to false
	case bool:
		m.TiedEmbeddings = v
	default:
		c.fault("tie_word_embeddings", "is %s; want true or false", found(v))
	}
}

// windows reads which layers attend to a sliding window only.
func (c *hfConfig) windows(m *Model, kind hfType) {
	layers, listed := c.keys["layer_types"].([]any)
	if v := c.keys["layer_types"]; v != nil && !listed {
		c.fault("layer_types", "is %s; want a list", found(v))
	}
	full := int64(0)
	for _, l := range layers {
		switch l {
		case "full_attention":
			full++
		case "sliding_attention":
			m.WindowLayers++
		default:
			c.fault("layer_types", "has %v; supported are full_attention and sliding_attention", l)
			return
		}
	}
	use, switched := c.keys["use_sliding_window"].(bool)
	switch {
	case listed && full+m.WindowLayers != m.Layers:
		c.fault("layer_types", "has %d layers, but num_hidden_layers is %d", full+m.WindowLayers, m.Layers)
	case listed:
	case c.keys["sliding_window"] == nil || switched && !use:
	case kind.name == "mistral" || kind.name == "mixtral":
		m.WindowLayers = m.Layers
	case switched && slices.Contains([]string{"qwen2", "qwen3", "qwen3_moe"}, kind.name):
		m.WindowLayers = max(0, m.Layers-c.count("max_window_layers", 0))
	default:
		c.fault("sliding_window", "is set, but neither layer_types nor use_sliding_window says for which layers")
	}
	if m.WindowLayers > 0 {
		m.Window = c.count("sliding_window", 0)
	}
}

// count returns the whole number from 1 under key, or missing if the key is
// absent or null and missing is above 0.
func (c *hfConfig) count(key string, missing int64) int64 {
	r := counts()
	switch v := c.keys[key].(type) {
	case nil:
		if missing <= 0 {
			c.fault(key, "is missing; want %s", r)
		}
		return missing
	case json.Number:
		n, err := v.Int64()
		if err == nil && n >= int64(r.Min) && n <= int64(r.Max) {
			return n
		}
	}
	c.fault(key, "is %s; want %s", found(c.keys[key]), r)
	return 1
}

// lineAt returns the line, counted from 1, of a byte of text.
func lineAt(text []byte, offset int64) int {
	return 1 + bytes.Count(text[:min(offset, int64(len(text)))], []byte("\n"))
}
