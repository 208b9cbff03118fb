import type { ResourceDescription } from '../jsonapi/description.ts'
import { auditEventResource } from '../audit/audit-event-document.ts'
import { tokenDescription } from '../authentication-tokens/token-document.ts'
import { ttlPolicyDescription } from '../organizations/token-ttl-policies.ts'
import { organizationUsage } from '../organizations/organization-usage-document.ts'
import { entitlementSetDescription, organizationDescription } from '../organizations/organization-document.ts'
import { accessChangesDescription } from '../effective-access/access-changes-document.ts'
import { accessGrantResource } from '../effective-access/access-grant-document.ts'
import { accessHolderDescription } from '../effective-access/access-holder-document.ts'
import { effectiveAccessDescription } from '../effective-access/effective-access-document.ts'
import { outputDescription, workspaceOutputDescription } from '../outputs/output-document.ts'
import { outputVersionDescription } from '../outputs/output-version-document.ts'
import { outputChangeDescription, outputPreviewDescription } from '../outputs/output-preview-document.ts'
import { stateVersionDescription } from '../state-versions/state-version-document.ts'
import { tagResource } from '../tags/tag-document.ts'
import { effectiveTagBindingDescription, tagBindingResource } from '../tag-bindings/tag-binding-document.ts'
import { teamProjectDescription } from '../team-access/team-project-document.ts'
import { teamWorkspaceDescription } from '../team-access/team-workspace-document.ts'
import { teamResource } from '../teams/team-fields.ts'
import { projectDescription } from '../projects/project-document.ts'
import { loginCodeResource } from '../login/login-codes.ts'
import { sessionResource } from '../sessions/session-document.ts'
import { passwordLinkResource } from '../users/password-links.ts'
import { userDescription } from '../users/user-document.ts'
import { membershipDescription } from '../organization-memberships/membership-document.ts'
import { refusalDescription } from '../refusals/refusal-document.ts'
import { workspaceDescription } from '../workspaces/workspace-document.ts'

/** Every type of resource in answers. If the `answers` of a route is missing here, test/openapi.test.ts fails. */
export const descriptions: readonly ResourceDescription[] = [
  accessChangesDescription,
  effectiveAccessDescription,
  accessGrantResource.description,
  accessHolderDescription,
  auditEventResource.description,
  membershipDescription,
  organizationDescription,
  organizationUsage.description,
  entitlementSetDescription,
  ttlPolicyDescription,
  projectDescription,
  refusalDescription,
  outputDescription,
  outputPreviewDescription,
  outputChangeDescription,
  outputVersionDescription,
  stateVersionDescription,
  tagResource.description,
  tagBindingResource.description,
  effectiveTagBindingDescription,
  teamResource.description,
  teamProjectDescription,
  teamWorkspaceDescription,
  tokenDescription,
  sessionResource.description,
  loginCodeResource.description,
  passwordLinkResource.description,
  userDescription,
  workspaceDescription,
  workspaceOutputDescription,
]
