package shard

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func equal(string, []string) int64 { return 1 }

// random is a grid of up to 12 cases by up to three axes, with times of its own.
func random(r *rand.Rand) (Grid, Takes) {
	var g Grid
	for i := range 1 + r.IntN(12) {
		g.Cases = append(g.Cases, fmt.Sprintf("p/case-%d", i))
	}
	for i := range r.IntN(4) {
		a := Axis{Name: fmt.Sprintf("axis-%d", i)}
		for v := range 1 + r.IntN(4) {
			a.Versions = append(a.Versions, fmt.Sprintf("v%d", v))
		}
		g.Axes = append(g.Axes, a)
	}
	took := map[string]int64{}
	g.Each(func(c string, versions []string) { took[fmt.Sprint(c, versions)] = r.Int64N(1000) * r.Int64N(50) })
	return g, func(c string, versions []string) int64 { return took[fmt.Sprint(c, versions)] }
}

func TestShardsHaveEachCellOnceAndAreAsManyAsAskedFor(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		g, takes := random(r)
		n := 1 + r.IntN(g.Cells()+5)
		if r.IntN(2) == 0 {
			takes = equal
		}
		shards := g.Split(n, takes)
		require.Len(t, shards, min(n, g.Cells()), "%+v into %d", g, n)
		seen := map[string]int{}
		for _, s := range shards {
			require.Positive(t, s.Cells(), "a shard without a cell: %+v into %d", g, n)
			s.Each(func(c string, versions []string) { seen[fmt.Sprint(c, versions)]++ })
		}
		g.Each(func(c string, versions []string) {
			require.Equal(t, 1, seen[fmt.Sprint(c, versions)], "%s with %v, of %+v into %d", c, versions, g, n)
			delete(seen, fmt.Sprint(c, versions))
		})
		require.Empty(t, seen, "cells that the grid has not")
	}
}

func TestShardsAreBalancedByTime(t *testing.T) {
	g := Grid{Cases: []string{"p/a", "p/b", "p/c", "p/d", "p/e"}, Axes: []Axis{{"broker", []string{"1", "2"}}}}
	takes := func(c string, _ []string) int64 { return map[string]int64{"p/a": 60, "p/b": 30}[c] + 10 }
	var longest int64
	for _, s := range g.Split(4, takes) {
		longest = max(longest, s.Expected(takes))
	}
	// 280 in all, 70 a shard: the one that takes 140 is split by its versions.
	require.EqualValues(t, 80, longest)
}

func TestShardsOfOneLengthDifferByOneCaseAtMost(t *testing.T) {
	var g Grid
	for i := range 62 {
		g.Cases = append(g.Cases, fmt.Sprint(i))
	}
	var sizes []int
	for _, s := range g.Split(8, equal) {
		sizes = append(sizes, s.Cells())
	}
	require.Equal(t, []int{8, 8, 8, 8, 8, 8, 7, 7}, sizes)
}

func TestSplitIsTheSameEachTime(t *testing.T) {
	g, takes := random(rand.New(rand.NewPCG(3, 4)))
	first := g.Split(3, takes)
	slices.Reverse(g.Cases)
	require.Equal(t, first, g.Split(3, takes))
}
