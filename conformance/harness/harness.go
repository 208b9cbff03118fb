// Package harness prepares people, organizations and memberships on a running Purser for the client programs. It uses
// plain HTTP, because the clients under test cannot create users or accept invitations.
package harness

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
)

// Server is the Purser under test and the token of its first site administrator.
type Server struct {
	Address string
	Token   string
}

// Dialect is the server's dialect.
func Dialect() string {
	if dialect := os.Getenv("PURSER_DIALECT"); dialect != "" {
		return dialect
	}
	return "documented"
}

// ListedSecret is the JSON of a sensitive value in a list of outputs or in include=outputs.
func ListedSecret(value string) string {
	if Dialect() == "current" {
		return "null"
	}
	return value
}

// DefaultExecutionMode is the mode of a new organization and its workspaces. Nothing runs on the server in any dialect.
func DefaultExecutionMode() string {
	if Dialect() == "current" {
		return "remote"
	}
	return "local"
}

// User is a person with their own user token.
type User struct {
	ID       string
	Username string
	Email    string
	Token    string
}

// Resource is a JSON:API resource, with the fields that this package reads.
type Resource struct {
	ID         string         `json:"id"`
	Type       string         `json:"type"`
	Attributes map[string]any `json:"attributes"`
}

// Running returns the server that PURSER_ADDRESS and PURSER_TOKEN name. It fails the test if they are not set.
func Running(t *testing.T) Server {
	t.Helper()
	server := Server{
		Address: strings.TrimSuffix(os.Getenv("PURSER_ADDRESS"), "/"),
		Token:   os.Getenv("PURSER_TOKEN"),
	}
	if server.Address == "" || server.Token == "" {
		t.Fatal("PURSER_ADDRESS and PURSER_TOKEN must name a running Purser; `npm run conformance` sets both")
	}
	return server
}

// Unique returns a name that no other test or earlier run on the same server has used.
func Unique(prefix string) string {
	suffix := make([]byte, 6)
	if _, err := rand.Read(suffix); err != nil {
		panic(err)
	}
	return prefix + "-" + hex.EncodeToString(suffix)
}

// Call sends a JSON:API request and returns the status and the raw answer. A nil body sends none.
func (s Server) Call(t *testing.T, token, method, path string, body any) (int, []byte) {
	t.Helper()
	var content io.Reader
	if body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			t.Fatal(err)
		}
		content = bytes.NewReader(encoded)
	}
	request, err := http.NewRequest(method, s.Address+"/api/v2/"+path, content)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/vnd.api+json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, answer
}

// Create posts a new resource and returns it as the server has stored it. It fails the test if that fails.
func (s Server) Create(t *testing.T, token, path, kind string, attributes map[string]any) Resource {
	t.Helper()
	resource := map[string]any{"type": kind}
	if attributes != nil {
		resource["attributes"] = attributes
	}
	status, answer := s.Call(t, token, http.MethodPost, path, map[string]any{"data": resource})
	if status < 200 || status > 299 {
		t.Fatalf("POST /api/v2/%s: %d %s", path, status, answer)
	}
	var document struct {
		Data Resource `json:"data"`
	}
	if err := json.Unmarshal(answer, &document); err != nil {
		t.Fatalf("POST /api/v2/%s: %v in %s", path, err, answer)
	}
	return document.Data
}

// NewUser creates a person who is in no organization.
func (s Server) NewUser(t *testing.T, name string) User {
	t.Helper()
	username := Unique(name)
	user := User{Username: username, Email: username + "@example.com"}
	user.ID = s.Create(t, s.Token, "admin/users", "users", map[string]any{
		"username": user.Username,
		"email":    user.Email,
	}).ID
	token := s.Create(t, s.Token, "users/"+user.ID+"/authentication-tokens", "authentication-tokens", map[string]any{
		"description": "conformance",
	})
	user.Token, _ = token.Attributes["token"].(string)
	if user.Token == "" {
		t.Fatalf("the new token of %s has no text", username)
	}
	return user
}

// NewOrganization creates an organization with one owner, and deletes it when the test ends.
func (s Server) NewOrganization(t *testing.T, owner User) string {
	t.Helper()
	name := Unique("org")
	s.Create(t, owner.Token, "organizations", "organizations", map[string]any{"name": name, "email": owner.Email})
	t.Cleanup(func() {
		status, answer := s.Call(t, owner.Token, http.MethodDelete, "organizations/"+name, nil)
		// A program may have deleted it.
		if status != http.StatusNoContent && status != http.StatusNotFound {
			t.Errorf("DELETE of organization %s: %d %s", name, status, answer)
		}
	})
	return name
}

// Join makes the person an active member of the organization and returns the membership's id.
func (s Server) Join(t *testing.T, organization string, owner, member User) string {
	t.Helper()
	membership := s.Create(t, owner.Token, "organizations/"+organization+"/organization-memberships",
		"organization-memberships", map[string]any{"email": member.Email})
	s.Accept(t, member, membership.ID)
	return membership.ID
}

// Accept accepts an invitation as the invited person.
func (s Server) Accept(t *testing.T, member User, membershipID string) {
	t.Helper()
	path := "organization-memberships/" + membershipID + "/actions/accept"
	if status, answer := s.Call(t, member.Token, http.MethodPost, path, nil); status != http.StatusOK {
		t.Fatalf("POST /api/v2/%s: %d %s", path, status, answer)
	}
}

// SignIn sets a password for the person with a link, as a browser does, and returns the cookie of the session.
func (s Server) SignIn(t *testing.T, user User) string {
	t.Helper()
	made := s.Create(t, s.Token, "admin/users/"+user.ID+"/password-links", "password-links", nil)
	response := s.asPage(t, "", "sessions", "sessions", map[string]any{
		"link":     made.Attributes["link"],
		"password": Unique("password"),
	})
	defer response.Body.Close()
	for _, cookie := range response.Cookies() {
		if cookie.Name == "purser-session" {
			return cookie.Name + "=" + cookie.Value
		}
	}
	t.Fatalf("signing in: %s without a session", response.Status)
	return ""
}

// Consent lets a program log in, as the page does that it opened, and returns where the browser goes then.
func (s Server) Consent(t *testing.T, cookie string, asked url.Values) string {
	t.Helper()
	status, address := s.TryConsent(t, cookie, asked)
	if address == "" {
		t.Fatalf("consent: %d without an address", status)
	}
	return address
}

// TryConsent does the same, and returns the status, and no address if the server refuses.
func (s Server) TryConsent(t *testing.T, cookie string, asked url.Values) (status int, address string) {
	t.Helper()
	attributes := map[string]any{}
	for name := range asked {
		attributes[strings.ReplaceAll(name, "_", "-")] = asked.Get(name)
	}
	response := s.asPage(t, cookie, "account/login-codes", "login-codes", attributes)
	defer response.Body.Close()
	var document struct {
		Data Resource `json:"data"`
	}
	if err := json.NewDecoder(response.Body).Decode(&document); err != nil {
		t.Fatal(err)
	}
	address, _ = document.Data.Attributes["redirect-to"].(string)
	return response.StatusCode, address
}

// asPage posts a resource as a page of the server does.
func (s Server) asPage(t *testing.T, cookie, path, kind string, attributes map[string]any) *http.Response {
	t.Helper()
	body := map[string]any{"data": map[string]any{"type": kind, "attributes": attributes}}
	encoded, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequest(http.MethodPost, s.Address+"/api/v2/"+path, bytes.NewReader(encoded))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/vnd.api+json")
	request.Header.Set("X-Purser-Page", "1")
	request.Header.Set("Sec-Fetch-Site", "same-origin")
	if cookie != "" {
		request.Header.Set("Cookie", cookie)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	return response
}
