package strict

import (
	"errors"
	"fmt"
	"strings"

	"github.com/BurntSushi/toml"
)

// A Fault is one thing wrong with a file.
type Fault struct {
	// Where is the file and line, or what else gave the value, or empty.
	Where string
	// Key is the dotted key, or empty.
	Key string
	// Text says what was found and what is allowed.
	Text string
}

// Error returns "where: key: text", without the parts that are empty.
func (f Fault) Error() string {
	parts := make([]string, 0, 3)
	for _, p := range []string{f.Where, f.Key, f.Text} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, ": ")
}

// Join makes one error of faults, a line each; nil if there are none.
func Join(faults []Fault) error {
	errs := make([]error, len(faults))
	for i, f := range faults {
		errs[i] = f
	}
	return errors.Join(errs...)
}

// Parse returns the tables and values of a TOML document, unjudged. The error
// is a Fault that names file and line.
func Parse(file, text string) (map[string]any, error) {
	tree := map[string]any{}
	_, err := toml.Decode(text, &tree)
	if perr, ok := err.(toml.ParseError); ok {
		return nil, Fault{Where: fmt.Sprintf("%s:%d", file, perr.Position.Line), Text: perr.Message}
	}
	if err != nil {
		return nil, Fault{Where: file, Text: err.Error()}
	}
	return tree, nil
}

// Schema judges the version of a file, its key schema, which is to be version.
// It comes before Decode, so that a newer file isn't called wrong for its new
// keys. ok tells that there is no fault.
func Schema(tree map[string]any, version int64, where func(key string) string) (f Fault, ok bool) {
	switch v, given := tree["schema"]; {
	case !given:
		return Fault{where("schema"), "schema", fmt.Sprintf("missing; begin the file with schema = %d", version)}, false
	case v != version:
		return Fault{where("schema"), "schema", fmt.Sprintf("found %s; this servesim reads schema %d", describe(v), version)}, false
	}
	return Fault{}, true
}
