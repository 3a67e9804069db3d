package gpu

import "strings"

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
	pattern := c.pattern(kind)
	switch {
	case listed && full+m.WindowLayers != m.Layers:
		c.fault("layer_types", "has %d layers, but num_hidden_layers is %d", full+m.WindowLayers, m.Layers)
	case listed:
	case c.keys["sliding_window"] == nil || switched && !use:
	case pattern > 0:
		m.WindowLayers = m.Layers - m.Layers/pattern
	case kind.windowed:
		m.WindowLayers = m.Layers
	case switched && strings.HasPrefix(kind.name, "qwen"):
		m.WindowLayers = max(0, m.Layers-c.count("max_window_layers", 0))
	default:
		c.fault("sliding_window", "is set, but neither layer_types, sliding_window_pattern nor use_sliding_window says for which layers")
	}
	if m.WindowLayers > 0 {
		m.Window = c.count("sliding_window", 0)
	}
}

// pattern returns of how many layers in turn the last has full attention, or 0
// if the config has no such pattern.
func (c *hfConfig) pattern(kind hfType) int64 {
	for _, key := range []string{"sliding_window_pattern", "_sliding_window_pattern"} {
		if c.keys[key] != nil {
			return c.count(key, 0)
		}
	}
	return kind.pattern
}
