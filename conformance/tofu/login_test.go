package tofu

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// OpenTofu discovers a host that is not in its settings over https. A proxy in front of the server provides https. A
// person consents in a browser, whose requests this test sends.
func TestHostIsDiscoveredAndLoggedInTo(t *testing.T) {
	w := newWorld(t)
	front, trust := w.newTLSFront(t)
	host := "localhost:" + front.Port()
	d := w.newDirectory(t, w.owner, map[string]string{
		"main.tf":    mainFile,
		"backend.tf": strings.Replace(w.backendBlock("cloud", `name = "network"`), hostname, host, 1),
	}).with("SSL_CERT_FILE=" + trust).
		with("PATH=/nowhere").      // no browser here that login could open
		with("TF_CLI_CONFIG_FILE=") // otherwise tofu ignores the file that login writes
	d.refused(t, "Required token could not be found", "init")
	cookie := w.server.SignIn(t, w.owner)

	got := d.login(t, host, func(page *url.URL) {
		callBack(t, page.Query().Get("redirect_uri")+"?code=no-such-code&state="+page.Query().Get("state"))
	})
	if !got.failed {
		t.Fatalf("login with a wrong code succeeded:\n%s", got.stdout)
	}
	wantText(t, unwrapped(got.stderr), "the code is unknown or was used before")

	got = d.login(t, host, func(page *url.URL) {
		if page.Path != "/app/~/login" {
			t.Errorf("tofu opens %s", page)
		}
		callBack(t, w.server.Consent(t, cookie, page.Query()))
	})
	if got.failed {
		t.Fatalf("%s failed:\n%s\n%s", got.command, got.stdout, got.stderr)
	}
	wantText(t, unwrapped(got.stdout), "obtained and saved an API token")
	d.ok(t, "init")
	d.ok(t, "apply", "-auto-approve")
	wantOutputs(t, d.ok(t, "output", "-json"), outputsJSON)
	d.ok(t, "logout", host)
	d.refused(t, "Required token could not be found", "output")
}

// login runs tofu login, and walks when tofu has printed the address of the page.
func (d directory) login(t *testing.T, host string, walk func(page *url.URL)) answer {
	t.Helper()
	found := regexp.MustCompile(`https://\S+client_id=\S+`)
	return d.watched(t, []string{"yes"}, func(screen string) bool {
		address := found.FindString(screen)
		if address == "" || !strings.Contains(screen[strings.Index(screen, address)+len(address):], "\n") {
			return false
		}
		page, err := url.Parse(address)
		if err != nil {
			t.Error(err)
			return true
		}
		go walk(page)
		return true
	}, "login", host)
}

// callBack is what the browser does in the end: it goes back to the program.
func callBack(t *testing.T, address string) {
	t.Helper()
	response, err := http.Get(address)
	if err != nil {
		t.Error(err)
		return
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("tofu answered %d at %s", response.StatusCode, address)
	}
}

// newTLSFront is an https proxy to the server. It returns its address and the file with its certificate.
func (w world) newTLSFront(t *testing.T) (address *url.URL, certificateFile string) {
	t.Helper()
	target, err := url.Parse(w.server.Address)
	must(t, err)
	front := httptest.NewUnstartedServer(&httputil.ReverseProxy{
		// The server sees its own address, so that its upload and download URLs lead directly to it.
		Rewrite: func(request *httputil.ProxyRequest) { request.SetURL(target) },
	})
	certificate, encoded := newCertificate(t)
	front.TLS = &tls.Config{Certificates: []tls.Certificate{certificate}}
	front.StartTLS()
	t.Cleanup(front.Close)
	address, err = url.Parse(front.URL)
	must(t, err)
	certificateFile = filepath.Join(t.TempDir(), "localhost.pem")
	write(t, certificateFile, encoded)
	return address, certificateFile
}

// newCertificate returns a self-signed certificate for localhost.
func newCertificate(t *testing.T) (certificate tls.Certificate, encoded string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1),
		DNSNames:     []string{"localhost"},
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(24 * time.Hour),
		IsCA:         true,
		KeyUsage:     x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,

		BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	must(t, err)
	encoded = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, encoded
}
