package scaffold

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"path/filepath"
	"strconv"
	"strings"
)

// taken is what a package has already, each with the file that has it.
type taken struct {
	// names are those of its own and of its imports.
	names map[string]string
	// texts are its string literals, which the names of its cases are among.
	texts map[string]string
}

func readPackage(dir string) (taken, error) {
	t := taken{map[string]string{}, map[string]string{}}
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err == nil && len(paths) == 0 {
		err = fmt.Errorf("there is no Go file in %s", dir)
	}
	if err != nil {
		return taken{}, fmt.Errorf("read the package: %w", err)
	}
	for _, path := range paths {
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			return taken{}, fmt.Errorf("read the package: %w", err)
		}
		t.read(file, filepath.Base(path))
	}
	return t, nil
}

func (t taken) read(file *ast.File, in string) {
	for _, i := range file.Imports {
		path, _ := strconv.Unquote(i.Path.Value)
		t.names[filepath.Base(path)] = in
		if i.Name != nil {
			t.names[i.Name.Name] = in
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				t.names[d.Name.Name] = in
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					t.names[s.Name.Name] = in
				case *ast.ValueSpec:
					for _, name := range s.Names {
						t.names[name.Name] = in
					}
				}
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if l, is := n.(*ast.BasicLit); is && l.Kind == token.STRING {
			if text, err := strconv.Unquote(l.Value); err == nil {
				t.texts[text] = in
			}
		}
		return true
	})
}

// local are names that the skeletons use within their tests.
const local = " t env s p c kafka client producer committed streams fault "

// free is a name for a variable of the package that says nothing else there.
func (t taken) free(name string) string {
	for t.names[name] != "" || token.IsKeyword(name) || types.Universe.Lookup(name) != nil || strings.Contains(local, " "+name+" ") {
		name += "Case"
	}
	return name
}

// camel is UnconfirmedCommit, or unconfirmedCommit.
func camel(name string, exported bool) string {
	words := strings.Split(name, "-")
	for i, w := range words {
		if i > 0 || exported {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, "")
}
