package htmlreport

import (
	"slices"
	"strings"
)

// grid is the cases about one client and one broker, by their versions.
type grid struct {
	Title string
	// Clients are the head's upper row, Columns its lower one.
	Clients []head
	Columns []column
	Rows    []row
}

type head struct {
	Text string
	Span int
}

type column struct{ Client, Broker, Runtime string }

// Text is the broker's version, and the runtime where there are several.
func (c column) Text() string { return strings.TrimSpace(c.Broker + " " + c.Runtime) }

type row struct {
	Case  string
	Cells [][]*cell
}

func grids(cells []*cell) []grid {
	type about struct{ client, broker string }
	at := map[about][]*cell{}
	var order []about
	for _, c := range cells {
		a := about{c.ClientName(), c.Broker}
		if at[a] == nil {
			order = append(order, a)
		}
		at[a] = append(at[a], c)
	}
	var all []grid
	for _, a := range order {
		title := strings.TrimPrefix(a.client+" on "+a.broker, " on ")
		g := gridOf(at[a])
		g.Title = strings.TrimSuffix(title, " on ")
		all = append(all, g)
	}
	return all
}

func gridOf(cells []*cell) grid {
	severalRuntimes := slices.ContainsFunc(cells, func(c *cell) bool { return c.Runtime != cells[0].Runtime })
	columnOf := func(c *cell) column {
		col := column{or(c.ClientVersion, "any client"), or(c.BrokerVersion, "no broker"), ""}
		if severalRuntimes {
			col.Runtime = or(c.Runtime, "no runtime")
		}
		return col
	}
	var g grid
	for _, c := range cells {
		if col := columnOf(c); !slices.Contains(g.Columns, col) {
			g.Columns = append(g.Columns, col)
		}
	}
	slices.SortFunc(g.Columns, func(a, b column) int {
		for _, pair := range [][2]string{{a.Client, b.Client}, {a.Broker, b.Broker}, {a.Runtime, b.Runtime}} {
			if n := byVersion(pair[0], pair[1]); n != 0 {
				return n
			}
		}
		return 0
	})
	for _, col := range g.Columns {
		if n := len(g.Clients); n > 0 && g.Clients[n-1].Text == col.Client {
			g.Clients[n-1].Span++
		} else {
			g.Clients = append(g.Clients, head{col.Client, 1})
		}
	}
	for _, s := range sections(cells) {
		r := row{Case: s.Name, Cells: make([][]*cell, len(g.Columns))}
		for _, c := range s.Cells {
			i := slices.Index(g.Columns, columnOf(c))
			r.Cells[i] = append(r.Cells[i], c)
		}
		g.Rows = append(g.Rows, r)
	}
	return g
}

func or(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}
