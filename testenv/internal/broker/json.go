package broker

import (
	"encoding/json"
	"maps"
	"regexp"
)

// bare are the values that JSON writes without quotes.
var bare = regexp.MustCompile(`^(true|false|-?[0-9]{1,18})$`)

// jsonObject renders a flat JSON object, sorted, with the overrides on top of
// the defaults. A value that is empty in overrides takes a default away.
func jsonObject(defaults, overrides map[string]string) string {
	all := maps.Clone(defaults)
	maps.Copy(all, overrides)
	object := map[string]any{}
	for key, value := range all {
		switch given, is := overrides[key]; {
		case is && given == "":
		case bare.MatchString(value):
			object[key] = json.RawMessage(value)
		default:
			object[key] = value
		}
	}
	text, err := json.MarshalIndent(object, "", "  ")
	if err != nil {
		panic(err) // strings, and numbers and booleans that were looked at
	}
	return string(text) + "\n"
}
