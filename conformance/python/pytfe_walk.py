"""pytfe, HashiCorp's own client: organizations, teams, memberships, tokens, access, states, outputs."""

from datetime import datetime, timedelta, timezone

from pytfe import TFEClient, TFEConfig
from pytfe.errors import NotFound, TFEError
from pytfe.models import (
    OrganizationCreateOptions,
    OrganizationMembershipCreateOptions,
    OrganizationMembershipListOptions,
    OrganizationTokenCreateOptions,
    OrganizationUpdateOptions,
    Project,
    ProjectCreateOptions,
    ProjectUpdateOptions,
    StateVersionCreateOptions,
    StateVersionListOptions,
    Team,
    TeamCreateOptions,
    TeamListOptions,
    TeamProjectAccessAddOptions,
    TeamProjectAccessListOptions,
    TeamProjectAccessUpdateOptions,
    TeamReadOptions,
    TeamTokenCreateOptions,
    TeamUpdateOptions,
    TeamWorkspaceAccessAddOptions,
    TeamWorkspaceAccessUpdateOptions,
    WorkspaceCreateOptions,
    WorkspaceLockOptions,
    WorkspaceUpdateOptions,
)
from pytfe.models.team import OrganizationAccessOptions, TeamIncludeOpt

from walk import ADDRESS, Person, State, Walk, equal, refused, unique


def client_of(token):
    return TFEClient(TFEConfig(address=ADDRESS, token=token, max_retries=1))


walk = Walk("pytfe")
owner = Person("pytfe-owner")
member = Person("pytfe-member")
client = client_of(owner.token)
reader = client_of(member.token)
organization = unique("pytfe")

with walk.step("who I am"):
    equal("username", client.users.read_current().username, owner.username)

with walk.step("organizations"):
    made = client.organizations.create(OrganizationCreateOptions(name=organization, email="ops@example.com"))
    equal("name", made.name, organization)
    client.organizations.update(organization, OrganizationUpdateOptions(email="other@example.com"))
    equal("email", client.organizations.read(organization).email, "other@example.com")
    equal("list", [one.name for one in client.organizations.list()], [organization])
    equal("entitlements", client.organizations.read_entitlements(organization).teams, True)

with walk.step("teams"):
    access = OrganizationAccessOptions(read_projects=True)
    team = client.teams.create(
        organization, TeamCreateOptions(name="readers", visibility="organization", organization_access=access)
    )
    equal("flag", team.organization_access.read_workspaces, True)
    client.teams.update(
        team.id, TeamUpdateOptions(name="pytfe-readers", organization_access=OrganizationAccessOptions(read_projects=False))
    )
    shown = client.teams.read(team.id)
    equal("name", shown.name, "pytfe-readers")
    equal("flag", shown.organization_access.read_projects, False)
    found = client.teams.list(organization, TeamListOptions(names=["pytfe-readers"], page_size=100))
    equal("list", [one.id for one in found], [team.id])
    client.teams.update(team.id, TeamUpdateOptions(organization_access=OrganizationAccessOptions(read_workspaces=False)))

with walk.step("memberships"):
    membership = client.organization_memberships.create(
        organization, OrganizationMembershipCreateOptions(email=member.email)
    )
    equal("status", membership.status, "invited")
    member.accept(membership.id)
    equal("status", client.organization_memberships.read(membership.id).status, "active")
    found = client.organization_memberships.list(organization, OrganizationMembershipListOptions(emails=[member.email]))
    equal("list", [one.id for one in found], [membership.id])

with walk.step("members of a team"):
    client.teams.add_users(team.id, [member.username])
    equal("users", [user.username for user in client.teams.list_users(team.id)], [member.username])
    client.teams.remove_users(team.id, [member.username])
    equal("users", list(client.teams.list_users(team.id)), [])
    client.teams.add_organization_memberships(team.id, [membership.id])
    found = client.teams.list_organization_memberships(team.id)
    equal("memberships", [one.id for one in found], [membership.id])
    shown = client.teams.read(team.id, TeamReadOptions(include=[TeamIncludeOpt.TEAM_USERS]))
    equal("included", [user.id for user in shown.users], [member.id])

with walk.step("tokens of a team"):
    single = client.team_tokens.create(team.id)
    equal("read", client.team_tokens.read(team.id).id, single.id)
    # Without a zone: in UTC.
    tomorrow = (datetime.now(timezone.utc) + timedelta(days=1)).replace(microsecond=0, tzinfo=None)
    options = TeamTokenCreateOptions(description="ci", expired_at=tomorrow)
    described = client.team_tokens.create_with_options(team.id, options)
    equal("expiry", described.expired_at.replace(tzinfo=None), tomorrow)
    refused(lambda: client.team_tokens.create_with_options(team.id, options), TFEError)
    equal("by id", client.team_tokens.read_by_id(described.id).description, "ci")
    equal("list", {one.id for one in client.team_tokens.list(organization)}, {single.id, described.id})
    equal("acts as the team", [one.name for one in client_of(described.token).organizations.list()], [organization])
    client.team_tokens.delete_by_id(described.id)
    client.team_tokens.delete(team.id)
    refused(lambda: client.team_tokens.read(team.id), NotFound)

with walk.step("the organization's token"):
    options = OrganizationTokenCreateOptions(expired_at=tomorrow)
    token = client.organization_tokens.create_with_options(organization, options)
    equal("expiry", token.expired_at.replace(tzinfo=None), tomorrow)
    equal("read", client.organization_tokens.read(organization).id, token.id)
    client.organization_tokens.delete(organization)
    refused(lambda: client.organization_tokens.read(organization), NotFound)

with walk.step("projects and workspaces"):
    project = client.projects.create(organization, ProjectCreateOptions(name="Networks"))
    client.projects.update(project.id, ProjectUpdateOptions(description="cables"))
    options = WorkspaceCreateOptions(name="network", project=Project(id=project.id), terraform_version="1.10.10")
    workspace = client.workspaces.create(organization, options)
    changed = client.workspaces.update_by_id(workspace.id, WorkspaceUpdateOptions(name="core", description="VPCs"))
    equal("description", changed.description, "VPCs")
    equal("vcs-repo", changed.vcs_repo, None)
    equal("latest run", changed.latest_run, None)
    equal("by name", client.workspaces.read("core", organization=organization).id, workspace.id)
    equal("list", [one.id for one in client.workspaces.list(organization)], [workspace.id])
    equal("workspace count", client.projects.read(project.id).workspace_count, 1)

with walk.step("access to a workspace"):
    options = TeamWorkspaceAccessAddOptions(team_id=team.id, workspace_id=workspace.id, access="read")
    grant = client.team_workspace_accesses.add(options)
    options = TeamWorkspaceAccessUpdateOptions(access="custom", state_versions="read-outputs")
    client.team_workspace_accesses.update(grant.id, options)
    equal("level", client.team_workspace_accesses.read(grant.id).state_versions, "read-outputs")
    equal("list", [one.id for one in client.team_workspace_accesses.list(workspace.id)], [grant.id])

with walk.step("access to a project"):
    options = TeamProjectAccessAddOptions(access="read", team=Team(id=team.id), project=Project(id=project.id))
    on_project = client.team_project_accesses.add(options)
    client.team_project_accesses.update(on_project.id, TeamProjectAccessUpdateOptions(access="write"))
    equal("level", client.team_project_accesses.read(on_project.id).access, "write")
    found = client.team_project_accesses.list(TeamProjectAccessListOptions(project_id=project.id))
    equal("list", [one.id for one in found], [on_project.id])
    client.team_project_accesses.remove(on_project.id)

with walk.step("states"):
    first, second = State(1), State(2)
    client.workspaces.lock(workspace.id, WorkspaceLockOptions(reason="a walk"))
    options = StateVersionCreateOptions(serial=1, md5=first.md5, lineage=first.lineage, state=first.base64)
    created = client.state_versions.create(workspace.id, options)
    options = StateVersionCreateOptions(serial=2, md5=second.md5, lineage=second.lineage)
    uploaded = client.state_versions.upload(workspace.id, raw_state=second.bytes, options=options)
    client.workspaces.unlock(workspace.id)
    equal("current", client.state_versions.read_current(workspace.id).id, uploaded.id)
    equal("content", client.state_versions.download_current(workspace.id), second.bytes)
    equal("older content", client.state_versions.download(created.id), first.bytes)
    found = client.state_versions.list(StateVersionListOptions(organization=organization, workspace="core"))
    equal("list", [one.id for one in found], [uploaded.id, created.id])

with walk.step("outputs"):
    outputs = {one.name: one for one in client.state_versions.list_outputs(uploaded.id)}
    equal("names", sorted(outputs), ["address", "password"])
    equal("secret", client.state_version_outputs.read(outputs["password"].id).value, "s3cret-2")
    masked = {one.name: one.value for one in reader.state_version_outputs.read_current(workspace.id)}
    equal("masked", masked, {"address": "10.0.0.1", "password": None})
    equal("reader", reader.state_version_outputs.read(outputs["password"].id).value, "s3cret-2")
    refused(lambda: reader.state_versions.read_current(workspace.id), NotFound)

with walk.step("locks and rollback"):
    client.workspaces.lock(workspace.id, WorkspaceLockOptions(reason="a rollback"))
    back = client.state_versions.rollback(workspace.id, created.id)
    equal("serial", back.serial, 3)
    client.workspaces.force_unlock(workspace.id)
    equal("locked", client.workspaces.read_by_id(workspace.id).locked, False)

with walk.step("the end of everything"):
    client.team_workspace_accesses.remove(grant.id)
    client.teams.remove_organization_memberships(team.id, [membership.id])
    client.workspaces.delete_by_id(workspace.id)
    client.projects.delete(project.id)
    client.teams.delete(team.id)
    client.organization_memberships.delete(membership.id)
    client.organizations.delete(organization)
    refused(lambda: client.organizations.read(organization), NotFound)

walk.end()
