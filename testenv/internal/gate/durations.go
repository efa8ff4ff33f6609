package gate

// Durations are how long cases took, in ms: by case, then by what the run was asked for.
type Durations map[string]map[string]int64

// Durations are those that the report tells.
func (r *Report) Durations() Durations {
	d := Durations{}
	for _, c := range r.Cells {
		if c.ElapsedMS <= 0 {
			continue
		}
		if d[c.Case] == nil {
			d[c.Case] = map[string]int64{}
		}
		d[c.Case][c.With] += c.ElapsedMS
	}
	return d
}

// Of is how long the case took with these versions, else with others on average, else
// how long a case takes on average.
func (d Durations) Of(name, with string) int64 {
	if ms, is := d[name][with]; is {
		return ms
	}
	if some := d[name]; some != nil {
		return mean(some)
	}
	all := map[string]int64{}
	for c, some := range d {
		all[c] = mean(some)
	}
	return mean(all)
}

func mean(of map[string]int64) int64 {
	if len(of) == 0 {
		return 0
	}
	var sum int64
	for _, ms := range of {
		sum += ms
	}
	return sum / int64(len(of))
}
