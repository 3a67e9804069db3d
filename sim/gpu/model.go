package gpu

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"servesim/internal/strict"
	"servesim/models"
)

// Model is the shape of a transformer. Its keys are named as in the config.json
// files of Hugging Face.
type Model struct {
	Schema int64  `toml:"schema" want:"count"`
	Name   string `toml:"name"`
	// IDs are the Hugging Face names of models of this shape.
	IDs []string `toml:"ids" want:"optional"`

	Layers           int64 `toml:"num_hidden_layers" want:"count"`
	Hidden           int64 `toml:"hidden_size" want:"count"`
	Heads            int64 `toml:"num_attention_heads" want:"count"`
	KVHeads          int64 `toml:"num_key_value_heads" want:"count"`
	HeadDim          int64 `toml:"head_dim" want:"count"`
	Intermediate     int64 `toml:"intermediate_size" want:"count"`
	Vocab            int64 `toml:"vocab_size" want:"count"`
	TiedEmbeddings   bool  `toml:"tie_word_embeddings"`
	MaxContextTokens int64 `toml:"max_position_embeddings" want:"count"`

	// Experts is the number of experts of a layer, 0 for a dense model;
	// ExpertsPerToken of them compute each token, each ExpertWidth wide. An expert
	// layer has an MLP of SharedWidth beside them that computes every token, or
	// none if that is 0. DenseLayers of the layers have no experts but an MLP of
	// Intermediate.
	Experts         int64 `toml:"num_local_experts" want:"count,optional"`
	ExpertsPerToken int64 `toml:"num_experts_per_tok" want:"count,optional"`
	ExpertWidth     int64 `toml:"moe_intermediate_size" want:"count,optional"`
	SharedWidth     int64 `toml:"shared_expert_intermediate_size" want:"count,optional"`
	DenseLayers     int64 `toml:"num_dense_layers" want:"count,optional"`

	// WindowLayers of the layers attend only to the last Window tokens.
	Window       int64 `toml:"sliding_window" want:"count,optional"`
	WindowLayers int64 `toml:"num_sliding_layers" want:"count,optional"`

	// The dimensions of multi-head latent attention; all 0 without it. QRank is
	// also 0 where the query is projected at once. HeadDim is NopeDim + RopeDim.
	QRank   int64 `toml:"q_lora_rank" want:"count,optional"`
	KVRank  int64 `toml:"kv_lora_rank" want:"count,optional"`
	NopeDim int64 `toml:"qk_nope_head_dim" want:"count,optional"`
	RopeDim int64 `toml:"qk_rope_head_dim" want:"count,optional"`
	VDim    int64 `toml:"v_head_dim" want:"count,optional"`

	// WeightFormat is what the weights are stored in: a Format, empty if nothing is
	// said of it, or another word that a config.json has, such as awq. A Setup has
	// its own.
	WeightFormat string `toml:"weight_format" want:"optional"`
}

// LoadModel reads the model that ships under name or has it among its Hugging
// Face ids, both in any case; otherwise, if name holds a / or ends in .toml or
// .json, the file at that path: TOML in the form of package models, or a
// Hugging Face config.json, or a folder with one. The error joins every fault of the file.
func LoadModel(name string) (*Model, error) {
	if m, err := shippedModel(name); m != nil || err != nil {
		return m, err
	}
	known := ModelNames()
	if !isPath(name) {
		return nil, fmt.Errorf("no model is called %q; %s; a name with a / or ending in .toml or .json is the path of a file",
			name, strict.Unlike(strings.ToLower(name), known))
	}
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		name = filepath.Join(name, "config.json")
	}
	text, err := os.ReadFile(name)
	if errors.Is(err, os.ErrNotExist) && !isFile(name) {
		return nil, fmt.Errorf("no model has the id %q, and no file is there; the models are %s; for any other give the path of its config.json",
			name, strings.Join(known, ", "))
	} else if err != nil {
		return nil, fmt.Errorf("reading a model: %w", err)
	}
	if strings.EqualFold(filepath.Ext(name), ".json") {
		return readHFConfig(name, text)
	}
	return readModel(name, string(text))
}

// shippedModel returns the model that ships under name or an id, or nil.
func shippedModel(name string) (*Model, error) {
	files := ModelNames()
	if lower := strings.ToLower(name); slices.Contains(files, lower) {
		files = []string{lower}
	}
	for _, k := range files {
		text, err := models.FS.ReadFile(k + ".toml")
		if err != nil {
			return nil, fmt.Errorf("reading the model %s: %w", k, err)
		}
		m, err := readModel(k+".toml", string(text))
		if err != nil {
			return nil, err
		}
		if m.isCalled(name) {
			return m, nil
		}
	}
	return nil, nil
}

// ModelNames returns the names of the models that ship, sorted.
func ModelNames() []string { return tomlNames(models.FS) }

func (m *Model) isCalled(name string) bool {
	same := func(s string) bool { return strings.EqualFold(s, name) }
	return same(m.Name) || slices.ContainsFunc(m.IDs, same)
}

// readModel reads the text of a model in TOML; file is its name in errors.
func readModel(file, text string) (*Model, error) {
	var m Model
	if err := decode(file, text, &m, strict.Where(file, text)); err != nil {
		return nil, err
	}
	var err error
	if _, wrong := ParseFormat(m.WeightFormat); wrong != nil && m.WeightFormat != "" {
		err = fmt.Errorf("%s: weight_format is %q; want one of bf16, fp8, int8, fp4 and mxfp4", file, m.WeightFormat)
	}
	if err := errors.Join(m.check(file), err); err != nil {
		return nil, err
	}
	return &m, nil
}
