package linearizability

import (
	"bytes"
	"crypto/md5"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"time"
)

// world is an organization, and the token of a team for each caller. Such a token holds locks as the team.
type world struct {
	addresses    []string
	admin        string
	organization string
	tokens       []string
	http         *http.Client
}

type document struct {
	Data struct {
		ID         string         `json:"id"`
		Attributes map[string]any `json:"attributes"`
	} `json:"data"`
	Errors []struct {
		Detail string `json:"detail"`
	} `json:"errors"`
}

func newWorld(addresses []string, admin, organization string, tokens []string) *world {
	return &world{addresses, admin, organization, tokens, &http.Client{
		Timeout:   15 * time.Second,
		Transport: &http.Transport{MaxIdleConnsPerHost: together * len(tokens)},
	}}
}

// createWorkspace waits while the server is away.
func (w *world) createWorkspace() (string, error) {
	var answer document
	for range 200 {
		name := fmt.Sprintf("workspace-%d", time.Now().UnixNano())
		body := resource("workspaces", map[string]any{"name": name})
		code, err := w.request(w.admin, "POST", "/organizations/"+w.organization+"/workspaces", body, &answer)
		if err == nil && code == http.StatusCreated {
			return answer.Data.ID, nil
		}
		if err == nil && code != http.StatusServiceUnavailable {
			return "", fmt.Errorf("a new workspace was answered %d %v", code, answer.Errors)
		}
		time.Sleep(100 * time.Millisecond)
	}
	return "", fmt.Errorf("no workspace could be made: %v", answer.Errors)
}

func resource(kind string, attributes map[string]any) map[string]any {
	return map[string]any{"data": map[string]any{"type": kind, "attributes": attributes}}
}

// request returns the status. An error means that there was no whole answer.
func (w *world) request(token, method, path string, body any, answer any) (int, error) {
	var reader io.Reader
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return 0, err
		}
		reader = bytes.NewReader(text)
	}
	address := w.addresses[rand.IntN(len(w.addresses))]
	request, err := http.NewRequest(method, address+"/api/v2"+path, reader)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/vnd.api+json")
	response, err := w.http.Do(request)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return 0, err
	}
	if len(text) > 0 && strings.Contains(response.Header.Get("Content-Type"), "json") {
		if err := json.Unmarshal(text, answer); err != nil {
			return 0, err
		}
	}
	return response.StatusCode, nil
}

// ask sends one operation to a random node. An error means that an answer was none of those that the model knows.
func (w *world) ask(workspace string, i input) (output, error) {
	token, base := w.tokens[i.caller], "/workspaces/"+workspace
	var answer document
	switch i.kind {
	case lock, unlock:
		code, err := w.request(token, "POST", fmt.Sprintf("%s/actions/%v", base, i.kind), nil, &answer)
		return written(code, err, answer, output{})
	case push:
		code, err := w.request(token, "POST", base+"/state-versions", stateVersion(i), &answer)
		return written(code, err, answer, output{serial: i.serial})
	case readSerial:
		code, err := w.request(token, "GET", base+"/current-state-version", nil, &answer)
		if err == nil && code == http.StatusNotFound {
			return output{}, nil
		}
		return read(code, err, answer.Errors, func() any { return answer.Data.Attributes["serial"] })
	default:
		var list struct {
			Data []struct {
				Attributes map[string]any `json:"attributes"`
			} `json:"data"`
		}
		code, err := w.request(token, "GET", base+"/current-state-version-outputs", nil, &list)
		if err == nil && (code == http.StatusNotFound || (code == http.StatusOK && len(list.Data) == 0)) {
			return output{}, nil
		}
		return read(code, err, nil, func() any { return list.Data[0].Attributes["value"] })
	}
}

func written(code int, err error, answer document, good output) (output, error) {
	switch {
	case err != nil:
		return output{status: unknown}, nil
	case code == http.StatusOK || code == http.StatusCreated:
		return good, nil
	case code == http.StatusConflict || code == http.StatusPreconditionFailed:
		return output{status: refused}, nil
	case code == http.StatusServiceUnavailable && strings.Contains(fmt.Sprint(answer.Errors), "not known"):
		return output{status: unknown}, nil
	case code == http.StatusServiceUnavailable:
		return output{status: notDone}, nil
	default:
		return output{}, fmt.Errorf("answered %d %v", code, answer.Errors)
	}
}

func read(code int, err error, errors any, value func() any) (output, error) {
	switch {
	case err != nil || code == http.StatusServiceUnavailable:
		return output{status: notDone}, nil
	case code != http.StatusOK:
		return output{}, fmt.Errorf("answered %d %v", code, errors)
	}
	serial, isNumber := value().(float64)
	if !isNumber {
		return output{}, fmt.Errorf("answered no serial: %v", value())
	}
	return output{serial: int(serial)}, nil
}

// stateVersion is a state with one output, whose value is the serial. No two pushes have the same bytes.
func stateVersion(i input) map[string]any {
	text := fmt.Sprintf(`{"version":4,"serial":%d,"lineage":"of-the-histories","resources":[],`+
		`"outputs":{"serial":{"value":%d,"type":"number"}},"by":"%d-%d"}`, i.serial, i.serial, i.caller, rand.Uint64())
	return resource("state-versions", map[string]any{
		"serial": i.serial, "lineage": "of-the-histories",
		"md5":   fmt.Sprintf("%x", md5.Sum([]byte(text))),
		"state": base64.StdEncoding.EncodeToString([]byte(text)),
	})
}
