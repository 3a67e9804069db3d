package workload

// misnamed returns the fault of a trace that is clearly not of format f, which opt
// names: JSON where CSV is expected or the other way round, or the layout of
// another format and not that of f. It is nil if only reading can tell.
func misnamed(file string, line firstLine, f Format, opt *Options) *Fault {
	isJSON := line.text[0] == '{' || line.text[0] == '['
	s, _ := sniff(file, line) // what is wrong with the line itself, the reader of f says
	var matches []Format
	if s != nil {
		for _, k := range Formats() {
			if k.match(s) {
				matches = append(matches, k)
			}
		}
	}
	fault := &Fault{File: file, Line: line.number}
	what, named := "a trace", "the format"
	if opt.Columns != (Columns{}) {
		named = "workload.columns"
	}
	if len(matches) == 1 {
		what = "a trace of the format " + matches[0].Name
		fault.Fix = "leave " + named + " out: the content tells the format"
	}
	switch {
	case isJSON != f.json:
		fault.Found, fault.Want = what+" in "+notation(isJSON), notation(f.json)+", for the format "+f.Name
		if opt.Columns != (Columns{}) {
			fault.Want = notation(false) + " for workload.columns, which names columns of CSV files only"
		}
		return fault
	case s != nil && s.hasKeys("chat_id") && f.Name == mooncakeFormat().Name:
		return unsure(file, s, nil, opt)
	case s != nil && f.Name != csvName && !f.match(s) && len(matches) == 1:
		fault.Found, fault.Want = what, "the format "+f.Name
		return fault
	}
	return nil
}

// notation says in which notation a trace is.
func notation(isJSON bool) string {
	if isJSON {
		return "JSON lines"
	}
	return "CSV"
}
