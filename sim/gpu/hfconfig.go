package gpu

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
)

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
	c.shape(&m, kind)
	c.experts(&m, kind)
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

// shape reads what every type has. A head_dim or num_key_value_heads that is
// missing has the value that transformers gives it.
func (c *hfConfig) shape(m *Model, kind hfType) {
	m.Layers = c.count("num_hidden_layers", 0)
	m.Hidden = c.count("hidden_size", 0)
	m.Heads = c.count("num_attention_heads", 0)
	m.Intermediate = c.count("intermediate_size", 0)
	m.Vocab = c.count("vocab_size", 0)
	m.MaxContextTokens = c.count("max_position_embeddings", 0)
	switch {
	case kind.latent:
		c.latent(m)
	case kind.headDim:
		m.KVHeads, m.HeadDim = c.count("num_key_value_heads", m.Heads), c.count("head_dim", 0)
	default:
		m.KVHeads = c.count("num_key_value_heads", m.Heads)
		m.HeadDim = c.count("head_dim", m.Hidden/max(1, m.Heads))
	}
	m.TiedEmbeddings = c.flag("tie_word_embeddings", kind.tied)
}

// latent reads multi-head latent attention. Every head has a key of its own. A
// head_dim, which some files give for the rotated part alone, is not read.
func (c *hfConfig) latent(m *Model) {
	m.KVHeads = m.Heads
	m.KVRank = c.count("kv_lora_rank", 0)
	if c.keys["q_lora_rank"] != nil {
		m.QRank = c.count("q_lora_rank", 0)
	}
	m.NopeDim, m.RopeDim = c.count("qk_nope_head_dim", 0), c.count("qk_rope_head_dim", 0)
	m.VDim = c.count("v_head_dim", 0)
	m.HeadDim = m.NopeDim + m.RopeDim
}

// flag returns the boolean under key, or missing if it is absent or null.
func (c *hfConfig) flag(key string, missing bool) bool {
	switch v := c.keys[key].(type) {
	case nil:
		return missing
	case bool:
		return v
	}
	c.fault(key, "is %s; want true or false", found(c.keys[key]))
	return missing
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
