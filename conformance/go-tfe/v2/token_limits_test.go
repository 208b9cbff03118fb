package v2

import (
	"testing"

	"github.com/hashicorp/go-tfe/v2/api/models"
)

// This library stores milliseconds in 32 bits, so it cannot read more than 24 days. The default of two years fails. It
// only works if each kind of token has a short lifetime.
func TestTokensLiveNoLongerThanTheOrganizationAllows(t *testing.T) {
	w := newWorld(t)
	const day = int32(86_400_000)
	_, err := w.in(w.client).TokenTtlPolicies().Get(t.Context(), nil)
	if err == nil {
		t.Fatal("the library reads two years: say so in the README")
	}
	changed, err := w.in(w.client).TokenTtlPolicies().Patch(t.Context(), ttlPolicies(day), nil)
	must(t, err)
	listed, err := w.in(w.client).TokenTtlPolicies().Get(t.Context(), nil)
	must(t, err)
	for _, all := range [][]models.TokenTtlPolicyable{changed.GetData(), listed.GetData()} {
		wantEqual(t, "policies", len(all), 4)
		for _, policy := range all {
			wantEqual(t, policy.GetAttributes().GetTokenType().String(), *policy.GetAttributes().GetMaxTtlMs(), day)
		}
	}
}

// ttlPolicies asks for the same lifetime for each kind of token.
func ttlPolicies(ms int32) models.TokenTtlPoliciesEnvelopeable {
	var entries []models.TokenTtlPolicyEntryable
	for _, kind := range []models.TokenTtlPolicyEntry_tokenType{
		models.ORGANIZATION_TOKENTTLPOLICYENTRY_TOKENTYPE,
		models.TEAM_TOKENTTLPOLICYENTRY_TOKENTYPE,
		models.USER_TOKENTTLPOLICYENTRY_TOKENTYPE,
		models.AUDIT_TRAILS_TOKENTTLPOLICYENTRY_TOKENTYPE,
	} {
		entry := models.NewTokenTtlPolicyEntry()
		entry.SetTokenType(new(kind))
		entry.SetMaxTtlMs(new(ms))
		entries = append(entries, entry)
	}
	attributes := models.NewTokenTtlPolicies_attributes()
	attributes.SetTokenTtlPolicies(entries)
	policies := models.NewTokenTtlPolicies()
	policies.SetTypeEscaped(new(models.ORGANIZATIONTOKENTTLPOLICIES_TOKENTTLPOLICIES_TYPE))
	policies.SetAttributes(attributes)
	body := models.NewTokenTtlPoliciesEnvelope()
	body.SetData(policies)
	return body
}
