package gpu

import "time"

// Price is what an hour of one GPU costs where it is rented on demand. It decides no
// time; what it costs to serve follows from it.
type Price struct {
	// USDPerGPUHour is a public list price on demand, without commitment, of one GPU
	// of a server of eight where sellers tell them apart, in US dollars.
	USDPerGPUHour float64 `toml:"usd_per_gpu_hour" want:"price"`
	// LowUSDPerGPUHour and HighUSDPerGPUHour are the lowest and the highest of other
	// such prices that Source names, 0 if it names none.
	LowUSDPerGPUHour  float64 `toml:"low_usd_per_gpu_hour" want:"price,optional"`
	HighUSDPerGPUHour float64 `toml:"high_usd_per_gpu_hour" want:"price,optional"`
	// Date is the day of the price, YYYY-MM-DD, and Source says whose it is.
	Date   string `toml:"date"`
	Source string `toml:"source"`
}

// Power is what one GPU draws, apart from the server around it. The most that it
// draws is Datasheet.TDPW.
type Power struct {
	// IdleW is the power in watts of a GPU that runs nothing.
	IdleW float64 `toml:"idle_w" want:"power"`
	// Source says where it was read.
	Source string `toml:"source"`
}

// checkCosts tells fault what is wrong with the price and the power of p.
func (p *Profile) checkCosts(fault func(key, format string, args ...any)) {
	if c := p.Price; c != nil {
		if _, err := time.Parse(time.DateOnly, c.Date); err != nil {
			fault("price.date", "found %q; must be a day, such as 2026-08-26", c.Date)
		}
		if c.Source == "" {
			fault("price.source", "empty; say whose price it is, on which list")
		}
		if c.LowUSDPerGPUHour > c.USDPerGPUHour {
			fault("price.low_usd_per_gpu_hour", "found %g; must be at most usd_per_gpu_hour, %g", c.LowUSDPerGPUHour, c.USDPerGPUHour)
		}
		if high := c.HighUSDPerGPUHour; high != 0 && high < c.USDPerGPUHour {
			fault("price.high_usd_per_gpu_hour", "found %g; must be at least usd_per_gpu_hour, %g", high, c.USDPerGPUHour)
		}
	}
	if w := p.Power; w != nil {
		if w.IdleW > p.Datasheet.TDPW {
			fault("power.idle_w", "found %g; must be at most datasheet.tdp_w, %g", w.IdleW, p.Datasheet.TDPW)
		}
		if w.Source == "" {
			fault("power.source", "empty; say where it was read")
		}
	}
}
