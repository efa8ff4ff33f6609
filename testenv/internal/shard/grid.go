package shard

import (
	"cmp"
	"math"
	"slices"
	"strings"
)

// Axis is a client or a broker with the versions to run with.
type Axis struct {
	Name     string
	Versions []string
}

// Grid is each case with each combination of one version an axis.
type Grid struct {
	Cases []string
	Axes  []Axis
}

// Takes is how long one case takes with one version of each axis, in milliseconds. What
// is not known for a cell must be guessed: below 1 counts as 1.
type Takes func(name string, versions []string) int64

// Cells is how many there are in the grid.
func (g Grid) Cells() int { return len(g.Cases) * combinations(g.Axes) }

// Each calls f for each cell.
func (g Grid) Each(f func(name string, versions []string)) {
	for _, c := range g.Cases {
		each(g.Axes, nil, func(versions []string) { f(c, versions) })
	}
}

// Expected is how long all its cells take.
func (g Grid) Expected(takes Takes) int64 {
	var sum int64
	g.Each(func(c string, versions []string) { sum += max(1, takes(c, versions)) })
	return sum
}

// Split makes n shards of it, or as many as there are cells. Cases that take more than a
// shard's share are split by versions; the others go whole, the longest first, to the
// shard that has the least.
func (g Grid) Split(n int, takes Takes) []Grid {
	rest := slices.Sorted(slices.Values(g.Cases))
	weight := map[string]int64{}
	var sum int64
	for _, c := range rest {
		weight[c] = Grid{[]string{c}, g.Axes}.Expected(takes)
		sum += weight[c]
	}
	slices.SortStableFunc(rest, func(a, b string) int { return cmp.Compare(weight[b], weight[a]) })
	n = min(n, g.Cells())
	var shards []Grid
	for len(rest) > 0 && float64(weight[rest[0]]) > float64(sum)/float64(n) {
		long := rest[0]
		rest = rest[1:]
		k := min(int(math.Ceil(float64(weight[long])*float64(n)/float64(sum))), combinations(g.Axes))
		if len(rest) > 0 {
			k = min(k, n-1)
		}
		shards = append(shards, Grid{[]string{long}, g.Axes}.byVersions(k, takes)...)
		n, sum = n-k, sum-weight[long]
	}
	return append(shards, longestFirst(rest, g.Axes, n, weight)...)
}

func longestFirst(cases []string, axes []Axis, n int, weight map[string]int64) []Grid {
	if len(cases) == 0 {
		return nil
	}
	shards, load := make([]Grid, n), make([]int64, n)
	for _, c := range cases {
		least := slices.Index(load, slices.Min(load))
		shards[least].Cases = append(shards[least].Cases, c)
		load[least] += weight[c]
	}
	for i := range shards {
		shards[i].Axes = axes
		slices.SortFunc(shards[i].Cases, strings.Compare)
	}
	return shards
}

// byVersions cuts the grid in two along the axis, and at the version, where the parts
// come out most alike, and the parts again.
func (g Grid) byVersions(n int, takes Takes) []Grid {
	if n <= 1 {
		return []Grid{g}
	}
	var best [2]Grid
	var parts [2]int
	least := math.Inf(1)
	for axis, a := range g.Axes {
		for at := 1; at < len(a.Versions); at++ {
			low, high := g.with(axis, a.Versions[:at]), g.with(axis, a.Versions[at:])
			l, h := float64(low.Expected(takes)), float64(high.Expected(takes))
			k := int(math.Round(float64(n) * l / (l + h)))
			k = max(k, 1, n-high.Cells())
			k = min(k, n-1, low.Cells())
			if longest := max(l/float64(k), h/float64(n-k)); longest < least {
				least, best, parts = longest, [2]Grid{low, high}, [2]int{k, n - k}
			}
		}
	}
	return append(best[0].byVersions(parts[0], takes), best[1].byVersions(parts[1], takes)...)
}

func (g Grid) with(axis int, versions []string) Grid {
	axes := slices.Clone(g.Axes)
	axes[axis].Versions = versions
	return Grid{g.Cases, axes}
}

func combinations(axes []Axis) int {
	n := 1
	for _, a := range axes {
		n *= len(a.Versions)
	}
	return n
}

func each(axes []Axis, picked []string, f func([]string)) {
	if len(axes) == 0 {
		f(slices.Clone(picked))
		return
	}
	for _, v := range axes[0].Versions {
		each(axes[1:], append(picked, v), f)
	}
}
