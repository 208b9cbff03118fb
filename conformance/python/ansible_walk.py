"""pytfe, as HashiCorp's Ansible collection hashicorp.terraform drives it: outputs, teams, access, tags, inventories.

Its modules read, compare with what a playbook wants, and write only a difference. So what they wrote must read back the
same. The collection itself is in no package registry. The calls are those of its versions 2.0.0 and 2.1.0, which has the
modules for teams, access, users and tags.
"""

from pytfe import TFEClient, TFEConfig
from pytfe.errors import NotFound
from pytfe.models import (
    AddWorkspacesToTagOptions,
    ExecutionMode,
    OrganizationCreateOptions,
    OrganizationTagsDeleteOptions,
    OrganizationTagsListOptions,
    Project,
    ProjectAddTagBindingsOptions,
    ProjectCreateOptions,
    ProjectListOptions,
    ProjectUpdateOptions,
    StateVersionCreateOptions,
    Tag,
    TagBinding,
    Team,
    TeamCreateOptions,
    TeamListOptions,
    TeamProjectAccessAddOptions,
    TeamProjectAccessListOptions,
    TeamProjectAccessProjectPermissionsOptions,
    TeamProjectAccessUpdateOptions,
    TeamProjectAccessWorkspacePermissionsOptions,
    TeamUpdateOptions,
    TeamWorkspaceAccessAddOptions,
    TeamWorkspaceAccessUpdateOptions,
    WorkspaceAddTagsOptions,
    WorkspaceCreateOptions,
    WorkspaceListOptions,
    WorkspaceLockOptions,
    WorkspaceSettingOverwrites,
    WorkspaceUpdateOptions,
)
from pytfe.models.team import OrganizationAccessOptions

from walk import ADDRESS, Person, State, Walk, equal, refused, unique

walk = Walk("hashicorp.terraform")
owner = Person("ansible-owner")
client = TFEClient(TFEConfig(address=ADDRESS, token=owner.token, timeout=30.0, max_retries=5))
organization = unique("ansible")

with walk.step("organizations"):
    refused(lambda: client.organizations.read(organization), NotFound)
    options = OrganizationCreateOptions.model_validate({"name": organization, "email": "ops@example.com"})
    client.organizations.create(options)
    equal("email", client.organizations.read(organization).email, "ops@example.com")
    # Nothing runs here. The module takes that for no answer.
    refused(lambda: client.organizations.read_capacity(organization), NotFound)

with walk.step("project"):
    wanted = {"env": "prod", "team": "core"}
    bindings = [TagBinding(key=key, value=value) for key, value in wanted.items()]
    options = ProjectCreateOptions(name="Networks", description="cables", tag_bindings=bindings)
    project = client.projects.create(organization, options)
    found = list(client.projects.list(organization, options=ProjectListOptions(name="Networks")))
    equal("by name", [one.id for one in found], [project.id])
    equal("description", client.projects.read(project.id).description, "cables")
    shown = {one.key: one.value for one in client.projects.list_tag_bindings(project.id)}
    equal("tags", shown, wanted)
    client.projects.update(project.id, ProjectUpdateOptions(description="more cables"))
    changed = ProjectAddTagBindingsOptions(tag_bindings=[TagBinding(key="env", value="test")])
    client.projects.add_tag_bindings(project.id, changed)
    shown = {one.key: one.value for one in client.projects.list_tag_bindings(project.id)}
    equal("tags", shown, {**wanted, "env": "test"})

with walk.step("workspace"):
    options = WorkspaceCreateOptions(
        name="network", project=Project(id=project.id), auto_apply=True, tag_bindings=[TagBinding(key="tier", value="base")]
    )
    workspace = client.workspaces.create(organization, options)
    changed = WorkspaceUpdateOptions(
        execution_mode=ExecutionMode("local"), setting_overwrites=WorkspaceSettingOverwrites(execution_mode=True)
    )
    client.workspaces.update_by_id(workspace.id, changed)
    shown = client.workspaces.read("network", organization=organization)
    equal("mode", shown.execution_mode, ExecutionMode("local"))
    equal("auto apply", shown.auto_apply, True)
    equal("tags", {one.key: one.value for one in client.workspaces.list_tag_bindings(workspace.id)}, {"tier": "base"})

with walk.step("team"):
    equal("none", list(client.teams.list(organization, options=TeamListOptions(names=["readers"]))), [])
    access = OrganizationAccessOptions(manage_workspaces=True, read_workspaces=True)
    options = TeamCreateOptions(
        name="readers", visibility="secret", allow_member_token_management=False, organization_access=access
    )
    team = client.teams.create(organization, options)
    (shown,) = client.teams.list(organization, options=TeamListOptions(names=["readers"]))
    equal("visibility", shown.visibility, "secret")
    equal("tokens", shown.allow_member_token_management, False)
    equal("flag", shown.organization_access.manage_workspaces, True)
    none = OrganizationAccessOptions(manage_workspaces=False, read_workspaces=False)
    client.teams.update(team.id, TeamUpdateOptions(visibility="organization", organization_access=none))
    equal("flag", client.teams.read(team.id).organization_access.read_workspaces, False)

with walk.step("team_workspace_access"):
    options = TeamWorkspaceAccessAddOptions(
        team_id=team.id, workspace_id=workspace.id, access="custom", state_versions="read-outputs"
    )
    grant = client.team_workspace_accesses.add(options)
    (shown,) = [one for one in client.team_workspace_accesses.list(workspace.id) if one.team_id == team.id]
    equal("level", (shown.access, shown.state_versions), ("custom", "read-outputs"))
    client.team_workspace_accesses.update(grant.id, TeamWorkspaceAccessUpdateOptions(access="write"))
    equal("level", client.team_workspace_accesses.read(grant.id).access, "write")

with walk.step("team_project_access"):
    options = TeamProjectAccessAddOptions(
        access="custom",
        team=Team(id=team.id),
        project=Project(id=project.id),
        project_access=TeamProjectAccessProjectPermissionsOptions(settings="read", teams="manage"),
        workspace_access=TeamProjectAccessWorkspacePermissionsOptions(state_versions="read-outputs", create=True),
    )
    on_project = client.team_project_accesses.add(options)
    (shown,) = client.team_project_accesses.list(TeamProjectAccessListOptions(project_id=project.id))
    equal("team", shown.team.id, team.id)
    equal("on the project", shown.project_access.project_teams_permission.value, "manage")
    equal("on its workspaces", shown.workspace_access.create, True)
    client.team_project_accesses.update(on_project.id, TeamProjectAccessUpdateOptions(access="read"))
    equal("level", client.team_project_accesses.read(on_project.id).access, "read")

with walk.step("user_info"):
    equal("by id", client.users.read(client.users.read_current().id).username, owner.username)

with walk.step("organization_tags"):
    client.workspaces.add_tags(workspace.id, WorkspaceAddTagsOptions(tags=[Tag(name="blue")]))
    (tag,) = client.organization_tags.list(organization)
    equal("tag", (tag.name, tag.instance_count), ("blue", 1))
    equal("on the workspace", [one.id for one in client.workspaces.list_tags(workspace.id)], [tag.id])
    other = client.workspaces.create(organization, WorkspaceCreateOptions(name="other"))
    unused = OrganizationTagsListOptions(query="bl", filter=other.id)
    equal("without those of a workspace", [one.id for one in client.organization_tags.list(organization, unused)], [tag.id])
    client.organization_tags.add_workspaces(organization, tag.id, AddWorkspacesToTagOptions(workspace_ids=[other.id]))
    equal("on the other", [one.id for one in client.workspaces.list_tags(other.id)], [tag.id])
    equal("without", list(client.organization_tags.list(organization, unused)), [])

with walk.step("tf_output and output"):
    state = State(1)
    client.workspaces.lock(workspace.id, WorkspaceLockOptions(reason="a play"))
    options = StateVersionCreateOptions(serial=1, md5=state.md5, lineage=state.lineage, state=state.base64)
    version = client.state_versions.create(workspace.id, options)
    client.workspaces.unlock(workspace.id)
    outputs = {one.name: one for one in client.state_version_outputs.read_current(workspace.id)}
    equal("shown", outputs["address"].value, "10.0.0.1")
    equal("masked", (outputs["password"].sensitive, outputs["password"].value), (True, None))
    equal("asked for", client.state_version_outputs.read(outputs["password"].id).value, "s3cret-1")

with walk.step("tfc_inv"):
    filters = WorkspaceListOptions(search="net", tags="blue", project_id=project.id)
    equal("workspaces", [one.id for one in client.workspaces.list(organization, filters)], [workspace.id])
    equal("current", client.state_versions.read_current(workspace.id).id, version.id)
    equal("content", client.state_versions.download_current(workspace.id), state.bytes)

with walk.step("absent"):
    client.organization_tags.delete(organization, OrganizationTagsDeleteOptions(ids=[tag.id]))
    client.team_project_accesses.remove(on_project.id)
    client.team_workspace_accesses.remove(grant.id)
    client.teams.delete(team.id)
    refused(lambda: client.workspaces.safe_delete_by_id(other.id + "x"), NotFound)
    client.workspaces.safe_delete_by_id(other.id)
    client.workspaces.delete_by_id(workspace.id)
    client.projects.delete(project.id)
    client.organizations.delete(organization)
    refused(lambda: client.organizations.read(organization), NotFound)

walk.end()
