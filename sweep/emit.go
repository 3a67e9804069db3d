package sweep

import (
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/template"

	"servesim/internal/strict"
)

// jobs are the templates of the files with which clusters run a sweep.
//
//go:embed jobs
var jobs embed.FS

// maxShards is the most shards of a job: a Kubernetes Job has at most 100,000
// completions.
const maxShards = 100_000

// EmitOptions say what a job of a cluster is like.
type EmitOptions struct {
	Plan   string // path of the plan, where the job runs
	Folder string // of the results
	Shards int
	// Image is the container image, and Claim the persistent volume claim that holds
	// the plan and the results; Slurm needs neither.
	Image, Claim string
}

// Engines lists what Emit knows.
func Engines() []string { return []string{"slurm", "kubernetes", "argo"} }

// templates are the files of Engines.
func templates() map[string]string {
	return map[string]string{"slurm": "slurm.sh.tmpl", "kubernetes": "kubernetes.yaml.tmpl", "argo": "argo.yaml.tmpl"}
}

// Emit writes the file with which an engine of Engines runs the shards of p and
// merges them.
func (p *Plan) Emit(w io.Writer, engine string, o EmitOptions) error {
	file, ok := templates()[engine]
	if !ok {
		return usagef("--emit: unknown engine %q; %s", engine, strict.Unlike(engine, Engines()))
	}
	if o.Shards < 1 || o.Shards > maxShards {
		return usagef("--emit %s: needs --shards, the number of parts, from 1 to %d; found %d", engine, maxShards, o.Shards)
	}
	if n := p.Len(); o.Shards > n {
		return usagef("--emit %s: %d shards are more than the %d points of the plan; give --shards %[3]d or fewer", engine, o.Shards, n)
	}
	if strings.ContainsAny(o.Plan+o.Folder, "\n\r") {
		return usagef("--emit %s: the path of the plan or the results has a line break; rename it", engine)
	}
	t, err := template.New(file).Delims("<<", ">>").Funcs(template.FuncMap{"q": quoted, "sh": shellQuoted}).ParseFS(jobs, "jobs/"+file)
	if err != nil {
		return fmt.Errorf("template %s: %w", file, err)
	}
	return t.Execute(w, struct {
		EmitOptions
		Name string
	}{o, jobName(o.Plan)})
}

// quoted writes text as a string of JSON, which YAML reads too.
func quoted(text string) (string, error) {
	b, err := json.Marshal(text)
	return string(b), err
}

// shellQuoted writes text as one word of a shell.
func shellQuoted(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// maxJobName is the most characters of a job's name, so that what is added to it
// still is a DNS label of 63.
const maxJobName = 40

// jobName makes a name of the plan's that every engine takes: a DNS label.
func jobName(path string) string {
	base := strings.ToLower(strings.TrimSuffix(filepath.Base(path), ".toml"))
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, "sweep-"+base)
	return strings.Trim(name[:min(len(name), maxJobName)], "-")
}
