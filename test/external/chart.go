// Renders the templates of a Helm chart with Go's text/template and the functions of sprig, as Helm does: reads
// {"files": {name: text}, "data": {...}} from standard input, and prints {name: text}.
package main

import (
	"bytes"
	"encoding/json"
	"os"
	"text/template"

	"github.com/Masterminds/sprig"
	"gopkg.in/yaml.v3"
)

type input struct {
	Files map[string]string
	Data  map[string]interface{}
	Texts map[string]string
}

type files map[string]string

func (all files) Get(path string) string { return all[path] }

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func main() {
	var in input
	check(json.NewDecoder(os.Stdin).Decode(&in))
	in.Data["Files"] = files(in.Texts)
	all := template.New("chart").Option("missingkey=zero")
	functions := sprig.TxtFuncMap()
	functions["include"] = func(name string, data interface{}) (string, error) {
		var text bytes.Buffer
		err := all.ExecuteTemplate(&text, name, data)
		return text.String(), err
	}
	functions["toYaml"] = func(value interface{}) string {
		text, err := yaml.Marshal(value)
		check(err)
		return string(bytes.TrimSuffix(text, []byte("\n")))
	}
	all.Funcs(functions)
	for name, text := range in.Files {
		_, err := all.New(name).Parse(text)
		check(err)
	}
	rendered := map[string]string{}
	for name := range in.Files {
		var text bytes.Buffer
		check(all.ExecuteTemplate(&text, name, in.Data))
		rendered[name] = text.String()
	}
	check(json.NewEncoder(os.Stdout).Encode(rendered))
}
