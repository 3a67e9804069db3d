package gpu

// Origin says what a fit made a profile of. No step time depends on it.
type Origin struct {
	// Tool is the command that wrote the profile, and its version.
	Tool string `toml:"tool"`
	// Engine names the table of engine constants that was fitted, empty if none was.
	Engine string `toml:"engine" want:"optional"`
	// BaseSHA256 is the hash of the profile that this one is based on, as it was at
	// the time of the fit: constants hold only beside the kernels that they were
	// fitted with.
	BaseSHA256 string `toml:"base_sha256" want:"optional"`
	// Inputs are the files of the fit.
	Inputs []OriginInput `toml:"inputs" want:"optional"`
	// Constants say how well each constant is known.
	Constants []OriginConstant `toml:"constants" want:"optional"`
	// Errors say how far the fit is off.
	Errors []OriginError `toml:"errors" want:"optional"`
	// Warnings are sentences about what the data cannot tell.
	Warnings []string `toml:"warnings" want:"optional"`
}

// OriginInput is one file of a fit.
type OriginInput struct {
	File   string `toml:"file"`
	SHA256 string `toml:"sha256"`
	Kind   string `toml:"kind"` // what it was read as
	Rows   int64  `toml:"rows" want:"rows"`
	Used   int64  `toml:"used" want:"rows"` // rows that the fit is of
}

// OriginConstant is how well a fit knows a constant.
type OriginConstant struct {
	Key   string  `toml:"key"`
	Value float64 `toml:"value"`
	// Low and High bound the constant with 95 % by the data and what was known before.
	Low  float64 `toml:"low"`
	High float64 `toml:"high"`
	// Told is the share of the prior variance that the data remove, 0 to 1.
	Told float64 `toml:"told"`
}

// OriginError is how far a fit is off in one metric: absolute relative errors, and,
// of what a fit on the rest makes of data that it did not see, the same again.
type OriginError struct {
	Metric        string  `toml:"metric"`
	Rows          int64   `toml:"rows" want:"rows"`
	Median        float64 `toml:"error_median" want:"error"`
	P90           float64 `toml:"error_p90" want:"error"`
	HeldOutMedian float64 `toml:"heldout_median" want:"error,optional"`
	HeldOutP90    float64 `toml:"heldout_p90" want:"error,optional"`
}
