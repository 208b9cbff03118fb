package tofu

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// eachProgram runs the scenario with OpenTofu and with Terraform.
func eachProgram(t *testing.T, scenario func(t *testing.T, program string)) {
	for name, program := range map[string]string{"tofu": openTofu, "terraform": terraform} {
		t.Run(name, func(t *testing.T) { scenario(t, program) })
	}
}

// The CLIs discover a host that is not in their settings over https. A proxy in front of the server provides https. A
// person consents in a browser, whose requests these tests send.
func TestHostIsDiscoveredAndLoggedInTo(t *testing.T) {
	eachProgram(t, func(t *testing.T, program string) {
		l := newLogin(t, program)
		d := l.newMachine(t)
		d.refused(t, "Required token could not be found", "init")

		l.wantRefusal(t, d, "the code is unknown or was used before", func(page *url.URL) string {
			return page.Query().Get("redirect_uri") + "?code=no-such-code&state=" + page.Query().Get("state")
		})

		got := l.login(t, d, func(page *url.URL) string {
			if page.Path != "/app/~/login" {
				t.Errorf("the program opens %s", page)
			}
			return l.server.Consent(t, l.cookie, page.Query())
		})
		l.wantSuccess(t, got)
		d.ok(t, "init")
		d.ok(t, "apply", "-auto-approve")
		wantOutputs(t, d.ok(t, "output", "-json"), outputsJSON)
		d.ok(t, "logout", l.host)
		d.refused(t, "Required token could not be found", "output")
	})
}

func TestLoginThatThePersonRefusesGivesNothing(t *testing.T) {
	eachProgram(t, func(t *testing.T, program string) {
		l := newLogin(t, program)
		d := l.newMachine(t)
		// The page asks the server nothing then. The person ends the program in the terminal.
		got := l.login(t, d, func(*url.URL) string { return "" })
		if !got.failed {
			t.Fatalf("login without consent succeeded:\n%s", got.stdout)
		}
		l.wantNoToken(t, d)
	})
}

func TestPatientLoginCodeGivesNothingAfterAMinute(t *testing.T) {
	eachProgram(t, func(t *testing.T, program string) {
		l := newLogin(t, program)
		d := l.newMachine(t)
		l.wantRefusal(t, d, "the code has expired", func(page *url.URL) string {
			address := l.server.Consent(t, l.cookie, page.Query())
			time.Sleep(codeLifetime + time.Second)
			return address
		})
		l.wantNoToken(t, d)
	})
}

// Whoever has only the code, and not the verifier, must not end a token of somebody else.
func TestLoginCodeThatIsUsedAgainGivesNothingAndEndsNothing(t *testing.T) {
	eachProgram(t, func(t *testing.T, program string) {
		l := newLogin(t, program)
		first, second := l.newMachine(t), l.newMachine(t)
		var code string
		l.wantSuccess(t, l.login(t, first, func(page *url.URL) string {
			address := l.server.Consent(t, l.cookie, page.Query())
			code = queryOf(t, address).Get("code")
			return address
		}))
		first.ok(t, "init")
		l.tokens = l.countTokens(t)
		l.wantRefusal(t, second, "the code is unknown or was used before", func(page *url.URL) string {
			return page.Query().Get("redirect_uri") + "?code=" + code + "&state=" + page.Query().Get("state")
		})
		first.ok(t, "init")
		l.wantNoToken(t, second)
	})
}

func TestLoginToAnotherAddressGivesNothing(t *testing.T) {
	eachProgram(t, func(t *testing.T, program string) {
		l := newLogin(t, program)
		d := l.newMachine(t)
		l.wantRefusal(t, d, "redirect_uri is not the one that the code was made for", func(page *url.URL) string {
			asked := page.Query()
			waits := asked.Get("redirect_uri")
			for _, other := range []string{
				"https://elsewhere.example/login",
				strings.Replace(waits, "localhost", "127.0.0.1", 1),
				strings.Replace(waits, "localhost", "localhost.elsewhere.example", 1),
				waits + "/more",
				"http://localhost:22/login",
			} {
				asked.Set("redirect_uri", other)
				if status, address := l.server.TryConsent(t, l.cookie, asked); status != 422 || address != "" {
					t.Errorf("consent for %s: %d %s", other, status, address)
				}
			}
			// Another port that a program may wait at, and the code comes to this program all the same.
			port := "10000"
			if strings.Contains(waits, port) {
				port = "10001"
			}
			asked.Set("redirect_uri", "http://localhost:"+port+"/login")
			code := queryOf(t, l.server.Consent(t, l.cookie, asked)).Get("code")
			return waits + "?code=" + code + "&state=" + asked.Get("state")
		})
		l.wantNoToken(t, d)
	})
}

// codeLifetime is how long the server takes a code.
const codeLifetime = time.Minute

// login is a person who has signed in in a browser, and an address at which programs find the server.
type login struct {
	world
	program string
	host    string
	trust   string
	cookie  string
	// tokens is how many the person has without logging in.
	tokens int
}

func newLogin(t *testing.T, program string) login {
	t.Helper()
	w := newWorld(t)
	front, trust := w.newTLSFront(t)
	l := login{
		world:   w,
		program: program,
		host:    "localhost:" + front.Port(),
		trust:   trust,
		cookie:  w.server.SignIn(t, w.owner),
	}
	l.tokens = l.countTokens(t)
	return l
}

// newMachine is a directory of somebody who has no token yet.
func (l login) newMachine(t *testing.T) directory {
	t.Helper()
	home := t.TempDir()
	// Terraform makes this folder with its check for newer versions, which is off here.
	must(t, os.Mkdir(filepath.Join(home, ".terraform.d"), 0o700))
	d := l.newDirectory(t, l.owner, map[string]string{
		"main.tf":    mainFile,
		"backend.tf": strings.Replace(l.backendBlock("cloud", `name = "network"`), hostname, l.host, 1),
	}).with("HOME=" + home).
		with("SSL_CERT_FILE=" + l.trust).
		with("PATH=/nowhere").      // no browser here that login could open
		with("TF_CLI_CONFIG_FILE=") // otherwise the program ignores the file that login writes
	d.program = l.program
	return d
}

func (l login) countTokens(t *testing.T) int {
	t.Helper()
	tokens, err := l.client.UserTokens.List(t.Context(), l.owner.ID)
	must(t, err)
	return len(tokens.Items)
}

// login runs the command login. When it has printed the address of the page, it walks there, and the browser goes to
// the address that walk returns. If that is empty, the person ends the program.
func (l login) login(t *testing.T, d directory, walk func(page *url.URL) string) answer {
	t.Helper()
	found := regexp.MustCompile(`https://\S+client_id=\S+`)
	return d.watched(t, []string{"yes"}, func(screen string, process *os.Process) bool {
		address := found.FindString(screen)
		if address == "" || !strings.Contains(screen[strings.Index(screen, address)+len(address):], "\n") {
			return false
		}
		page, err := url.Parse(address)
		if err != nil {
			t.Error(err)
			return true
		}
		go func() {
			if next := walk(page); next != "" {
				callBack(t, next)
			} else {
				l.end(t, process)
			}
		}()
		return true
	}, "login", l.host)
}

// wantRefusal logs in, and the program must fail with the words of the server.
func (l login) wantRefusal(t *testing.T, d directory, words string, walk func(page *url.URL) string) {
	t.Helper()
	got := l.login(t, d, walk)
	if !got.failed {
		t.Fatalf("login succeeded:\n%s", got.stdout)
	}
	wantText(t, unwrapped(got.stderr), words)
}

func (l login) wantSuccess(t *testing.T, got answer) {
	t.Helper()
	if got.failed {
		t.Fatalf("%s failed:\n%s\n%s", got.command, got.stdout, got.stderr)
	}
	wantText(t, unwrapped(got.stdout), "obtained and saved an API token")
}

// wantNoToken checks that the program has stored no token, and that the person has none that is new.
func (l login) wantNoToken(t *testing.T, d directory) {
	t.Helper()
	d.refused(t, "Required token could not be found", "init")
	if got := l.countTokens(t); got != l.tokens {
		t.Errorf("the person has %d tokens, and had %d", got, l.tokens)
	}
}

func queryOf(t *testing.T, address string) url.Values {
	t.Helper()
	parsed, err := url.Parse(address)
	must(t, err)
	return parsed.Query()
}

// end is Ctrl-C in the terminal for OpenTofu. Terraform does not listen to that while it waits for a code.
func (l login) end(t *testing.T, process *os.Process) {
	t.Helper()
	signal := os.Interrupt
	if l.program == terraform {
		signal = os.Kill
	}
	if err := process.Signal(signal); err != nil {
		t.Error(err)
	}
}

// callBack is what the browser does in the end: it goes back to the program.
func callBack(t *testing.T, address string) {
	t.Helper()
	response, err := http.Get(address)
	if errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) {
		return // The program has the code, and ended its server before it answered.
	}
	if err != nil {
		t.Error(err)
		return
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("the program answered %d at %s", response.StatusCode, address)
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
