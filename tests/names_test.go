package tests

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// sourcePackage is the parsed files of one folder.
type sourcePackage struct {
	dir   string // path of the folder from the root of the repository
	files map[string]*ast.File
}

// TestNames checks that a name means one thing in its package: no variable, parameter or result may
// have the name of a type or function of the package. There is one exception: variables in ordinary
// files may have the name of a type or function that is declared in a test file.
func TestNames(t *testing.T) {
	t.Parallel()
	set := token.NewFileSet()
	for _, p := range parseAll(t, set) {
		declared, helpers := make(map[string]bool), make(map[string]bool)
		for name, file := range p.files {
			into := declared
			if isTest(name) {
				into = helpers
			}
			for _, n := range declaredBy(file) {
				into[n] = true
			}
		}
		for name, file := range p.files {
			for _, variable := range variablesOf(file) {
				if declared[variable.Name] || isTest(name) && helpers[variable.Name] {
					t.Errorf("%s: the variable %s hides a type or function of the package", set.Position(variable.Pos()), variable.Name)
				}
			}
		}
	}
}

func isTest(file string) bool { return strings.HasSuffix(file, "_test.go") }

// parseAll parses all packages of the repository. An external test package (name_test) counts
// as a package of its own.
func parseAll(t *testing.T, set *token.FileSet) []sourcePackage {
	t.Helper()
	var all []sourcePackage
	at := make(map[string]int) // index in all, by folder and name of the package
	err := filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && strings.HasPrefix(e.Name(), ".") && path != "..":
			return filepath.SkipDir
		case filepath.Ext(path) != ".go":
			return nil
		}
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir, err := filepath.Rel("..", filepath.Dir(path))
		if err != nil {
			return err
		}
		key := dir + " " + file.Name.Name
		n, hits := at[key]
		if !hits {
			n = len(all)
			at[key] = n
			all = append(all, sourcePackage{dir, make(map[string]*ast.File)})
		}
		all[n].files[path] = file
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// declaredBy returns the names of the functions and types of a file.
func declaredBy(file *ast.File) (names []string) {
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil && d.Name.Name != "init" && d.Name.Name != "_" {
				names = append(names, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, isType := s.(*ast.TypeSpec); isType {
					names = append(names, s.Name.Name)
				}
			}
		}
	}
	return names
}

// variablesOf returns the identifiers by which a file declares local variables, parameters and
// results.
func variablesOf(file *ast.File) (all []*ast.Ident) {
	add := func(e ast.Expr) {
		if name, isName := e.(*ast.Ident); isName {
			all = append(all, name)
		}
	}
	fields := func(lists ...*ast.FieldList) {
		for _, list := range lists {
			if list == nil {
				continue
			}
			for _, f := range list.List {
				for _, name := range f.Names {
					add(name)
				}
			}
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			fields(n.Recv)
		case *ast.FuncType:
			fields(n.Params, n.Results)
		case *ast.AssignStmt:
			if n.Tok == token.DEFINE {
				for _, left := range n.Lhs {
					add(left)
				}
			}
		case *ast.RangeStmt:
			if n.Tok == token.DEFINE {
				add(n.Key)
				add(n.Value)
			}
		case *ast.DeclStmt:
			if d, isGeneric := n.Decl.(*ast.GenDecl); isGeneric {
				for _, s := range d.Specs {
					if s, isValue := s.(*ast.ValueSpec); isValue {
						for _, name := range s.Names {
							add(name)
						}
					}
				}
			}
		}
		return true
	})
	return all
}
