package tofu

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// OpenTofu discovers a host that is not in its settings over https. A proxy in front of the server provides https.
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
	if got := d.run(t, []string{"yes", "no-such-token"}, "login", host); !got.failed {
		t.Fatalf("login with a bad token succeeded:\n%s", got.stdout)
	} else {
		wantText(t, unwrapped(got.stderr), "Token is invalid")
	}
	wantText(t, d.okAnswering(t, []string{"yes", w.owner.Token}, "login", host), "Retrieved token for user "+w.owner.Username)
	d.ok(t, "init")
	d.ok(t, "apply", "-auto-approve")
	wantOutputs(t, d.ok(t, "output", "-json"), outputsJSON)
	d.ok(t, "logout", host)
	d.refused(t, "Required token could not be found", "output")
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
