"""terrasnek: organizations, teams, memberships, tokens, access, states, outputs."""

from terrasnek.api import TFC
from terrasnek.exceptions import TFCHTTPConflict, TFCHTTPNotFound

from walk import ADDRESS, Person, State, Walk, equal, refused, unique


class Client(TFC):
    """It looks up the place of a registry before it does anything else; here there is none."""

    def well_known_paths(self):
        return {"modules.v1": "/there-is-no-registry/", **super().well_known_paths()}


def client_of(token, organization=None):
    client = Client(token, url=ADDRESS, skip_version_check=True)
    if organization is not None:
        client.set_org(organization)
    return client


def body(kind, attributes=None, relationships=None, **one):
    data = {"type": kind, "attributes": attributes or {}, **one}
    if relationships is not None:
        data["relationships"] = {name: {"data": to} for name, to in relationships.items()}
    return {"data": data}


def ref(kind, identifier):
    return {"type": kind, "id": identifier}


walk = Walk("terrasnek")
owner = Person("terrasnek-owner")
member = Person("terrasnek-member")
organization = unique("terrasnek")
client = client_of(owner.token)

with walk.step("organizations"):
    client.orgs.create(body("organizations", {"name": organization, "email": "ops@example.com"}))
    client.orgs.update(organization, body("organizations", {"email": "other@example.com"}))
    equal("email", client.orgs.show(organization)["data"]["attributes"]["email"], "other@example.com")
    equal("list", [one["id"] for one in client.orgs.list_all()["data"]], [organization])
    equal("entitlements", client.orgs.entitlements(organization)["data"]["attributes"]["teams"], True)
    client.set_org(organization)
    reader = client_of(member.token, organization)

with walk.step("who I am"):
    equal("account", client.account.show()["data"]["attributes"]["username"], owner.username)
    equal("user", client.users.show(owner.id)["data"]["id"], owner.id)

with walk.step("teams"):
    made = client.teams.create(body("teams", {"name": "readers", "visibility": "organization"}))
    team = made["data"]["id"]
    client.teams.update(team, body("teams", {"name": "snakes"}))
    equal("name", client.teams.show(team)["data"]["attributes"]["name"], "snakes")
    names = [one["attributes"]["name"] for one in client.teams.list_all()["data"]]
    equal("list", names, ["owners", "snakes"])

with walk.step("memberships"):
    invited = client.org_memberships.invite(body("organization-memberships", {"email": member.email}))
    membership = invited["data"]["id"]
    member.accept(membership)
    shown = client.org_memberships.show(membership, include=["user"])
    equal("status", shown["data"]["attributes"]["status"], "active")
    equal("included", [one["id"] for one in shown["included"]], [member.id])
    found = client.org_memberships.list_all_for_org(query=member.username)["data"]
    equal("list", [one["id"] for one in found], [membership])
    equal("own", [one["id"] for one in reader.org_memberships.list_for_user()["data"]], [membership])

with walk.step("members of a team"):
    client.team_memberships.add_user_to_team(team, {"data": [ref("users", member.username)]})
    client.team_memberships.remove_user_from_team(team, {"data": [ref("users", member.username)]})
    equal("none", client.teams.show(team)["data"]["relationships"]["users"]["data"], [])
    client.team_memberships.add_user_to_team_with_org_id(team, {"data": [ref("organization-memberships", membership)]})
    equal("one", client.teams.show(team)["data"]["relationships"]["users"]["data"], [ref("users", member.id)])

with walk.step("tokens"):
    of_team = client.team_tokens.create(team)["data"]["attributes"]["token"]
    equal("acts as the team", [one["id"] for one in client_of(of_team).orgs.list()["data"]], [organization])
    client.team_tokens.destroy(team)
    client.org_tokens.create()
    client.org_tokens.destroy()
    made = client.user_tokens.create(owner.id, body("authentication-tokens", {"description": "walk"}))["data"]
    equal("shown", client.user_tokens.show(made["id"])["data"]["attributes"]["description"], "walk")
    equal("listed", made["id"] in [one["id"] for one in client.user_tokens.list(owner.id)["data"]], True)
    client.user_tokens.destroy(made["id"])

with walk.step("projects and workspaces"):
    project = client.projects.create(body("projects", {"name": "Networks"}))["data"]["id"]
    client.projects.update(project, body("projects", {"description": "cables"}))
    in_project = {"project": ref("projects", project)}
    workspace = client.workspaces.create(body("workspaces", {"name": "network"}, in_project))["data"]["id"]
    client.workspaces.update(body("workspaces", {"description": "VPCs"}), workspace_id=workspace)
    by_name = client.workspaces.show(workspace_name="network")["data"]
    equal("description", by_name["attributes"]["description"], "VPCs")
    equal("list", [one["id"] for one in client.workspaces.list_all()["data"]], [workspace])
    equal("projects", len(client.projects.list_all()["data"]), 2)

with walk.step("access to a workspace"):
    both = {"workspace": ref("workspaces", workspace), "team": ref("teams", team)}
    grant = client.team_access.add_team_access(body("team-workspaces", {"access": "read"}, both))["data"]["id"]
    custom = {"access": "custom", "state-versions": "read-outputs"}
    client.team_access.update(grant, body("team-workspaces", custom))
    equal("level", client.team_access.show(grant)["data"]["attributes"]["state-versions"], "read-outputs")
    filters = [{"keys": ["workspace", "id"], "value": workspace}]
    equal("list", [one["id"] for one in client.team_access.list(filters=filters)["data"]], [grant])

with walk.step("access to a project"):
    both = {"project": ref("projects", project), "team": ref("teams", team)}
    made = client.project_team_access.add_project_team_access(body("team-projects", {"access": "read"}, both))
    on_project = made["data"]["id"]
    client.project_team_access.update(on_project, body("team-projects", {"access": "write"}))
    equal("level", client.project_team_access.show(on_project)["data"]["attributes"]["access"], "write")
    client.project_team_access.remove_project_team_access(on_project)

with walk.step("states"):
    states = [State(1), State(2)]
    client.workspaces.lock(workspace, {"reason": "a walk"})
    refused(lambda: client.workspaces.lock(workspace, None), TFCHTTPConflict)
    versions = []
    for state in states:
        attributes = {"serial": state.serial, "md5": state.md5, "lineage": state.lineage, "state": state.base64}
        versions.append(client.state_versions.create(workspace, body("state-versions", attributes))["data"]["id"])
    client.workspaces.unlock(workspace)
    equal("current", client.state_versions.get_current(workspace)["data"]["id"], versions[1])
    filters = [
        {"keys": ["workspace", "name"], "value": "network"},
        {"keys": ["organization", "name"], "value": organization},
    ]
    found = client.state_versions.list_all(filters)["data"]
    equal("list", [one["id"] for one in found], versions[::-1])
    shown = client.state_versions.show(versions[1])["data"]
    before = shown["relationships"]["previous-state-version"]["data"]
    equal("the version before", before, ref("state-versions", versions[0]))

with walk.step("outputs"):
    listed = client.state_version_outputs.list(versions[1])["data"]
    equal("names", [one["attributes"]["name"] for one in listed], ["address", "password"])
    secret = client.state_version_outputs.show(listed[1]["id"])["data"]["attributes"]["value"]
    equal("secret", secret, "s3cret-2")
    masked = reader.state_version_outputs.show_current_for_workspace(workspace)["data"]
    equal("masked", [one["attributes"]["value"] for one in masked], ["10.0.0.1", None])
    refused(lambda: reader.state_versions.get_current(workspace), TFCHTTPNotFound)

with walk.step("locks without a body, rollback, content"):
    client.workspaces.lock(workspace, None)
    source = {"rollback-state-version": ref("state-versions", versions[0])}
    back = client.state_versions.rollback(workspace, body("state-versions", None, source))["data"]
    equal("serial", back["attributes"]["serial"], 3)
    client.workspaces.force_unlock(workspace)
    client.state_versions.mark_for_garbage_collection(versions[1])
    client.state_versions.restore_marked_for_garbage_collection(versions[1])

with walk.step("the end of everything"):
    client.team_access.remove_team_access(grant)
    client.team_memberships.remove_user_from_team_with_org_id(
        team, {"data": [ref("organization-memberships", membership)]}
    )
    client.workspaces.destroy(workspace_id=workspace)
    client.projects.destroy(project)
    client.teams.destroy(team)
    client.org_memberships.remove(membership)
    client.orgs.destroy(organization)
    refused(lambda: client.orgs.show(organization), TFCHTTPNotFound)

walk.end()
