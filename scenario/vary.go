package scenario

import "strings"

// An Alternative is one scenario of a comparison: the settings that make it
// differ from the common one, and what tables call it.
type Alternative struct {
	Label    string
	Settings []Setting
}

// ParseVary reads the alternatives of a --vary flag. Alternatives stand between
// commas. Each is key=value, or several joined by +, or a value alone, which
// then is another one for the key before it:
//
//	enable_chunked_prefill=true,false
//	enable_chunked_prefill=false,max_num_batched_tokens=8192,2048,512
//	gpu=h100+tensor_parallel_size=8,gpu=b200+tensor_parallel_size=4
//
// Commas within brackets, braces or quotes belong to the value.
func ParseVary(text string) ([]Alternative, error) {
	var list []Alternative
	last := ""
	for _, part := range splitTop(text, ',') {
		if !strings.Contains(part, "=") {
			if last == "" {
				return nil, usagef("--vary %s: begin with a key, such as max_num_batched_tokens=8192,2048", text)
			}
			part = last + "=" + part
		}
		alt := Alternative{Label: part}
		for _, one := range splitPlus(part) {
			s, err := ParseSetting(one)
			if err != nil {
				return nil, usagef("--vary %s: %w", text, err)
			}
			s.Flag = "--vary"
			alt.Settings = append(alt.Settings, s)
			last, _, _ = strings.Cut(one, "=")
		}
		list = append(list, alt)
	}
	return list, nil
}

// splitPlus splits a=1+b=2 at each plus that a key and = follow, so that 1e+5
// is a value.
func splitPlus(text string) []string {
	var parts []string
	for _, p := range splitTop(text, '+') {
		if len(parts) > 0 && !strings.Contains(p, "=") {
			parts[len(parts)-1] += "+" + p
			continue
		}
		parts = append(parts, p)
	}
	return parts
}

// splitTop splits text at each sep that isn't within brackets, braces or quotes.
func splitTop(text string, sep byte) []string {
	var parts []string
	start, depth, quote := 0, 0, byte(0)
	for i := range len(text) {
		c := text[i]
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		case c == sep && depth == 0:
			parts = append(parts, text[start:i])
			start = i + 1
		}
	}
	return append(parts, text[start:])
}
