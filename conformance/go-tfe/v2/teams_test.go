package v2

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/hashicorp/go-tfe/v2"
	"github.com/hashicorp/go-tfe/v2/api/models"
	"github.com/hashicorp/go-tfe/v2/api/organizations"
	"github.com/hashicorp/go-tfe/v2/api/teams"
	"github.com/hashicorp/go-tfe/v2/api/teams/item"

	"purser.example/conformance/harness"
)

func TestTeamIsCreatedShownUpdatedAndDeleted(t *testing.T) {
	w := newWorld(t)
	created := w.newTeam(t, "readers")
	attributes := created.GetAttributes()
	wantEqual(t, "name", *attributes.GetName(), "readers")
	wantEqual(t, "visibility", attributes.GetVisibility().String(), "secret")
	wantEqual(t, "users-count", *attributes.GetUsersCount(), 0)
	wantEqual(t, "sso-team-id", attributes.GetSsoTeamId(), nil)
	wantEqual(t, "flags", flagsOf(created), nil)
	wantEqual(t, "can-destroy", *attributes.GetPermissions().GetCanDestroy(), true)
	wantEqual(t, "can-update-api-token", *attributes.GetPermissions().GetCanUpdateApiToken(), true)
	wantEqual(t, "self link", *created.GetLinks().GetSelf(), "/api/v2/teams/"+*created.GetId())

	team := w.client.API.Teams().ById(*created.GetId())
	updated, err := team.Patch(t.Context(), teamBody(func(attributes models.Teams_attributesable) {
		attributes.SetName(new("output-readers"))
		attributes.SetVisibility(new(models.ORGANIZATION_TEAMS_ATTRIBUTES_VISIBILITY))
		attributes.SetSsoTeamId(new("saml-readers"))
		attributes.SetAllowMemberTokenManagement(new(false))
	}), nil)
	must(t, err)
	wantEqual(t, "name", *updated.GetData().GetAttributes().GetName(), "output-readers")
	shown, err := team.Get(t.Context(), nil)
	must(t, err)
	wantEqual(t, "visibility", shown.GetData().GetAttributes().GetVisibility().String(), "organization")
	wantEqual(t, "sso-team-id", *shown.GetData().GetAttributes().GetSsoTeamId(), "saml-readers")
	wantEqual(t, "allow-member-token-management", *shown.GetData().GetAttributes().GetAllowMemberTokenManagement(), false)

	must(t, team.Delete(t.Context(), nil))
	wantStatus(t, second(team.Get(t.Context(), nil)), tfe.ErrNotFound)
	wantStatus(t, team.Delete(t.Context(), nil), tfe.ErrNotFound)
}

func TestEveryFlagOfATeamCanBeTurnedOn(t *testing.T) {
	w := newWorld(t)
	for flag, want := range map[string][]string{
		"ManagePolicies":           {"ManagePolicies"},
		"ManagePolicyOverrides":    {"ManagePolicyOverrides"},
		"ManageRunTasks":           {"ManageRunTasks"},
		"ManageWorkspaces":         {"ManageWorkspaces", "ReadWorkspaces"},
		"ManageVcsSettings":        {"ManageVcsSettings"},
		"ManageAgentPools":         {"ManageAgentPools"},
		"ManageProviders":          {"ManageProviders"},
		"ManageModules":            {"ManageModules"},
		"ManageProjects":           {"ManageProjects", "ManageWorkspaces", "ReadWorkspaces"},
		"ReadProjects":             {"ReadProjects", "ReadWorkspaces"},
		"ReadWorkspaces":           {"ReadWorkspaces"},
		"ManageMembership":         {"ManageMembership"},
		"ManageTeams":              {"ManageTeams"},
		"ManageOrganizationAccess": {"ManageOrganizationAccess"},
	} {
		t.Run(flag, func(t *testing.T) {
			updated, err := w.client.API.Teams().ById(*w.newTeam(t, flag).GetId()).Patch(t.Context(), flagBody(map[string]bool{flag: true}), nil)
			must(t, err)
			wantEqual(t, "flags", flagsOf(updated.GetData()), want)
		})
	}
}

func TestBadTeamsAreRefused(t *testing.T) {
	w := newWorld(t)
	team := w.client.API.Teams().ById(*w.newTeam(t, "readers").GetId())
	_, err := team.Patch(t.Context(), flagBody(map[string]bool{"ManageProjects": true, "ManageWorkspaces": false}), nil)
	wantStatus(t, err, tfe.ErrUnprocessableEntity)
	_, err = team.Patch(t.Context(), flagBody(map[string]bool{"ReadProjects": true, "ReadWorkspaces": false}), nil)
	wantStatus(t, err, tfe.ErrUnprocessableEntity)
	_, err = w.in(w.client).Teams().Post(t.Context(), teamBody(func(attributes models.Teams_attributesable) {
		attributes.SetName(new("readers"))
	}), nil)
	wantStatus(t, err, tfe.ErrUnprocessableEntity)
	_, err = w.in(w.client).Teams().Post(t.Context(), teamBody(func(models.Teams_attributesable) {}), nil)
	wantStatus(t, err, tfe.ErrUnprocessableEntity)
	_, err = w.client.API.Organizations().ByOrganization_name(harness.Unique("missing")).Teams().Get(t.Context(), nil)
	wantStatus(t, err, tfe.ErrNotFound)
	stranger := newClient(t, w.server, "no-such-token")
	wantStatus(t, second(w.in(stranger).Teams().Get(t.Context(), nil)), tfe.ErrUnauthorized)
}

func TestTeamsAreListedByPageAndFound(t *testing.T) {
	w := newWorld(t)
	for i := range 24 {
		w.newTeam(t, fmt.Sprintf("team-%02d", i))
	}
	list := w.in(w.client).Teams()
	first, err := list.Get(t.Context(), nil)
	must(t, err)
	pagination := first.GetMeta().GetPagination()
	wantEqual(t, "teams on the first page", len(first.GetData()), 20)
	wantEqual(t, "next page", *pagination.GetNextPage(), 2)
	wantEqual(t, "previous page", pagination.GetPrevPage(), nil)
	wantEqual(t, "page size", *pagination.GetPageSize(), 20)
	wantEqual(t, "total", *pagination.GetTotalCount(), 25)
	wantEqual(t, "previous link", first.GetLinks().GetPrev(), nil)
	if next := *first.GetLinks().GetNext(); !strings.HasPrefix(next, "/api/v2/organizations/"+w.organization+"/teams?") {
		t.Fatalf("next link: %s", next)
	}

	names := eachPage(t, list, organizations.ItemTeamsRequestBuilderGetQueryParameters{Pagesize: new(int32(10))})
	wantEqual(t, "teams on all pages", len(names), 25)
	wantEqual(t, "last team", names[24], "team-23")
	wantEqual(t, "q", eachPage(t, list, organizations.ItemTeamsRequestBuilderGetQueryParameters{Q: new("TEAM-1"), Pagesize: new(int32(3))}),
		[]string{"team-10", "team-11", "team-12", "team-13", "team-14", "team-15", "team-16", "team-17", "team-18", "team-19"})
	wantEqual(t, "filter[names]", eachPage(t, list, organizations.ItemTeamsRequestBuilderGetQueryParameters{Filternames: new("owners,team-07,none")}),
		[]string{"owners", "team-07"})
}

func TestMembersComeAndGo(t *testing.T) {
	w := newWorld(t)
	anna, _ := w.newMember(t, "anna")
	ben, _ := w.newMember(t, "ben")
	team := w.client.API.Teams().ById(*w.newTeam(t, "readers").GetId())
	must(t, team.Relationships().Users().Post(t.Context(), usersBody(anna, ben), nil))
	shown, err := team.Get(t.Context(), with(teams.ItemRequestBuilderGetQueryParameters{
		Include: new(item.USERS_GETINCLUDEQUERYPARAMETERTYPE),
	}))
	must(t, err)
	wantEqual(t, "users-count", *shown.GetData().GetAttributes().GetUsersCount(), 2)
	wantEqual(t, "included users", len(shown.GetIncluded()), 2)

	memberships, err := team.Relationships().OrganizationMemberships().Get(t.Context(), nil)
	must(t, err)
	wantEqual(t, "memberships", len(memberships.GetData()), 2)
	must(t, team.Relationships().Users().Delete(t.Context(), usersBody(ben), nil))
	memberships, err = team.Relationships().OrganizationMemberships().Get(t.Context(), nil)
	must(t, err)
	wantEqual(t, "memberships after one has left", len(memberships.GetData()), 1)
	wantEqual(t, "address of the one who stayed", *memberships.GetData()[0].GetAttributes().GetEmail(), anna.Email)

	last := models.NewOrganizationMembershipsIdentifierArrayDocument_data()
	last.SetTypeEscaped(new(models.ORGANIZATIONMEMBERSHIPS_ORGANIZATIONMEMBERSHIPSIDENTIFIERARRAYDOCUMENT_DATA_TYPE))
	last.SetId(memberships.GetData()[0].GetId())
	body := models.NewOrganizationMembershipsIdentifierArrayDocument()
	body.SetData([]models.OrganizationMembershipsIdentifierArrayDocument_dataable{last})
	must(t, team.Relationships().OrganizationMemberships().Delete(t.Context(), body, nil))
	must(t, team.Relationships().OrganizationMemberships().Post(t.Context(), body, nil))

	stranger := w.server.NewUser(t, "stranger")
	wantStatus(t, team.Relationships().Users().Post(t.Context(), usersBody(stranger), nil), tfe.ErrUnprocessableEntity)
}

func TestSecretTeamIsHiddenFromThoseOutsideIt(t *testing.T) {
	w := newWorld(t)
	insider, insiderClient := w.newMember(t, "insider")
	_, otherClient := w.newMember(t, "other")
	id := *w.newTeamOf(t, "secret", insider).GetId()
	wantStatus(t, second(otherClient.API.Teams().ById(id).Get(t.Context(), nil)), tfe.ErrNotFound)
	listed, err := w.in(otherClient).Teams().Get(t.Context(), nil)
	must(t, err)
	wantEqual(t, "teams that the other member sees", len(listed.GetData()), 0)
	seen, err := insiderClient.API.Teams().ById(id).Get(t.Context(), nil)
	must(t, err)
	wantEqual(t, "can-destroy for a plain member", *seen.GetData().GetAttributes().GetPermissions().GetCanDestroy(), false)
	wantStatus(t, insiderClient.API.Teams().ById(id).Delete(t.Context(), nil), tfe.ErrNotFound)
}

func TestTokensAreReadAndDeleted(t *testing.T) {
	w := newWorld(t)
	team := w.newTeam(t, "readers")
	token := w.client.API.Teams().ById(*team.GetId()).AuthenticationToken()
	wantStatus(t, second(token.Get(t.Context(), nil)), tfe.ErrNotFound)
	made := w.server.Create(t, w.owner.Token, "teams/"+*team.GetId()+"/authentication-token", "authentication-tokens", nil)
	read, err := token.Get(t.Context(), nil)
	must(t, err)
	wantEqual(t, "token of the team", *read.GetData().GetId(), made.ID)
	wantEqual(t, "text of a token that is only read", read.GetData().GetAttributes().GetToken(), nil)
	byID, err := w.client.API.AuthenticationTokens().ById(made.ID).Get(t.Context(), nil)
	must(t, err)
	wantEqual(t, "expiry", byID.GetData().GetAttributes().GetExpiredAt() != nil, true)
	listed, err := w.in(w.client).TeamTokens().Get(t.Context(), nil)
	must(t, err)
	wantEqual(t, "tokens of teams", len(listed.GetData()), 1)
	must(t, token.Delete(t.Context(), nil))
	wantStatus(t, second(token.Get(t.Context(), nil)), tfe.ErrNotFound)

	attributes := models.NewAuthenticationTokens_attributes()
	attributes.SetDescription(new("laptop"))
	userToken := models.NewAuthenticationTokens()
	userToken.SetTypeEscaped(new(models.AUTHENTICATIONTOKENS_AUTHENTICATIONTOKENS_TYPE))
	userToken.SetAttributes(attributes)
	body := models.NewAuthenticationTokensEnvelope()
	body.SetData(userToken)
	mine, err := w.client.API.Users().ByUser_id(w.owner.ID).AuthenticationTokens().Post(t.Context(), body, nil)
	must(t, err)
	details, err := newClient(t, w.server, *mine.GetData().GetAttributes().GetToken()).API.Account().Details().Get(t.Context(), nil)
	must(t, err)
	wantEqual(t, "user of the new token", *details.GetData().GetAttributes().GetUsername(), w.owner.Username)
	must(t, w.client.API.AuthenticationTokens().ById(*mine.GetData().GetId()).Delete(t.Context(), nil))
	status, _ := w.server.Call(t, *mine.GetData().GetAttributes().GetToken(), http.MethodGet, "account/details", nil)
	wantEqual(t, "status with the deleted token", status, http.StatusUnauthorized)
}

// eachPage follows next-page like the provider, and returns the names of all teams.
func eachPage(t *testing.T, list *organizations.ItemTeamsRequestBuilder, query organizations.ItemTeamsRequestBuilderGetQueryParameters) []string {
	t.Helper()
	var names []string
	for {
		page, err := list.Get(t.Context(), with(query))
		must(t, err)
		for _, team := range page.GetData() {
			names = append(names, *team.GetAttributes().GetName())
		}
		query.Pagenumber = page.GetMeta().GetPagination().GetNextPage()
		if query.Pagenumber == nil {
			return names
		}
	}
}

// flagBody sets flags, named like the methods of the generated client.
func flagBody(flags map[string]bool) models.TeamsEnvelopeable {
	access := models.NewTeams_attributes_organizationAccess()
	for name, value := range flags {
		reflect.ValueOf(access).MethodByName("Set" + name).Call([]reflect.Value{reflect.ValueOf(new(value))})
	}
	return teamBody(func(attributes models.Teams_attributesable) { attributes.SetOrganizationAccess(access) })
}

// flagsOf returns the names of the flags that are on, sorted.
func flagsOf(team models.Teamsable) []string {
	access := reflect.ValueOf(team.GetAttributes().GetOrganizationAccess())
	var on []string
	for i := range access.NumMethod() {
		name, isGetter := strings.CutPrefix(access.Type().Method(i).Name, "Get")
		if !isGetter {
			continue
		}
		if flag, isFlag := access.Method(i).Call(nil)[0].Interface().(*bool); isFlag && flag != nil && *flag {
			on = append(on, name)
		}
	}
	return on
}
