package harness

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
)

var recording sync.Mutex

// Through returns the address for a client under test: usually the server's. With `npm run conformance -- --record` it
// is the address of a proxy, which lives as long as the test and notes which test sends which request.
func (s Server) Through(t *testing.T, client string) string {
	t.Helper()
	file := os.Getenv("PURSER_RECORD")
	if file == "" {
		return s.Address
	}
	target, err := url.Parse(s.Address)
	if err != nil {
		t.Fatal(err)
	}
	test := recordedName(t.Name())
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(request *httputil.ProxyRequest) {
			request.SetURL(target)
			// The server builds upload URLs from the host.
			request.Out.Host = request.In.Host
		},
		// A refused request shows little of the operation.
		ModifyResponse: func(response *http.Response) error {
			if response.StatusCode < 300 {
				note(file, client, test, response.Request)
			}
			return nil
		},
	})
	t.Cleanup(proxy.Close)
	return proxy.URL
}

// recordedName leaves out sub-tests, except the resources of a replay.
func recordedName(name string) string {
	parts := strings.Split(name, "/")
	if len(parts) > 2 && parts[1] == "resources" {
		return strings.Join(parts[:3], "/")
	}
	return parts[0]
}

func note(file, client, test string, request *http.Request) {
	recording.Lock()
	defer recording.Unlock()
	notes, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		panic(err)
	}
	defer notes.Close()
	if _, err := fmt.Fprintf(notes, "%s\t%s\t%s\t%s\n", client, test, request.Method, request.URL.EscapedPath()); err != nil {
		panic(err)
	}
}
