package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html/template"
)

// files are the template, scripts and styles, and uPlot as it was published, whose
// folder has its licence and version.
//
//go:embed assets
var files embed.FS

// assets are what every page is made of.
type assets struct {
	page         *template.Template
	boot, script template.JS
	style        template.CSS
}

// load reads the assets. Errors are of the program, not of its input.
func load() (*assets, error) {
	text := func(names ...string) (all string, err error) {
		for _, name := range names {
			b, err := files.ReadFile("assets/" + name)
			if err != nil {
				return "", err
			}
			all += string(b)
		}
		return all, nil
	}
	boot, err := text("boot.js")
	if err != nil {
		return nil, err
	}
	script, err := text("uplot/uPlot.iife.min.js", "format.js", "panel.js", "pointer.js", "page.js")
	if err != nil {
		return nil, err
	}
	style, err := text("uplot/uPlot.min.css", "page.css")
	if err != nil {
		return nil, err
	}
	dark, err := text("dark.css")
	if err != nil {
		return nil, err
	}
	style += "@media screen {\n:root[data-theme=dark] {\n" + dark + "}\n" +
		"@media (prefers-color-scheme: dark) {\n:root:not([data-theme=light]) {\n" + dark + "}\n}\n}\n"
	page, err := template.New("page.html.tmpl").ParseFS(files, "assets/page.html.tmpl")
	if err != nil {
		return nil, err
	}
	return &assets{page, template.JS(boot), template.JS(script), template.CSS(style)}, nil
}

// policy returns the Content-Security-Policy of pages: the scripts and the style of
// the assets, pictures that are in the page, and nothing else from anywhere.
func (a *assets) policy() string {
	return fmt.Sprintf("default-src 'none'; script-src %s %s; style-src %s; img-src data:; base-uri 'none'; form-action 'none'",
		hash(string(a.boot)), hash(string(a.script)), hash(string(a.style)))
}

// hash returns the source that allows text, and nothing else.
func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
