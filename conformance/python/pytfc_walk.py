"""pytfc, as far as it goes: it makes no teams, memberships and access, which are made by hand here."""

from urllib.parse import urlsplit

from pytfc import Client
from pytfc.requestor import Requestor
from requests.exceptions import HTTPError

from walk import ADDRESS, Person, State, Walk, call, equal, refused, unique


class PlainRequestor(Requestor):
    """It always writes https before the host."""

    def __init__(self, headers, base_uri, verify, log_level):
        super().__init__(headers, base_uri.replace("https://", "http://"), verify, log_level)


def client_of(token, **options):
    return Client(hostname=urlsplit(ADDRESS).netloc, token=token, requestor=PlainRequestor, **options)


def data(answer):
    return answer.json()["data"]


walk = Walk("pytfc")
owner = Person("pytfc-owner")
member = Person("pytfc-member")
organization = unique("pytfc")
client = client_of(owner.token)

with walk.step("organizations"):
    client.organizations.create(name=organization, email="ops@example.com")
    client.organizations.update(name=organization, email="other@example.com")
    equal("email", data(client.organizations.show(organization))["attributes"]["email"], "other@example.com")
    equal("list", [one["id"] for one in data(client.organizations.list())], [organization])
    equal("entitlements", data(client.organizations.show_entitlement_set(organization))["attributes"]["teams"], True)
    client.set_org(organization)

with walk.step("teams and their members"):
    attributes = {"name": "readers", "visibility": "organization"}
    made = call(owner.token, "POST", f"/organizations/{organization}/teams", attributes, "teams")
    team = made["id"]
    invitation = f"/organizations/{organization}/organization-memberships"
    invited = call(owner.token, "POST", invitation, {"email": member.email}, "organization-memberships")
    member.accept(invited["id"])
    shown = data(client.teams.show(team, include="users"))
    equal("organization", shown["relationships"]["organization"]["data"]["id"], organization)
    names = [one["attributes"]["name"] for one in client.teams.list_all()["data"]]
    equal("list", names, ["owners", "readers"])
    found = data(client.teams.list(filters=["[names]=readers"]))
    equal("filter", [one["id"] for one in found], [team])

with walk.step("tokens of a team"):
    token = data(client.team_tokens.generate_new(team))["attributes"]["token"]
    equal("acts as the team", [one["id"] for one in data(client_of(token).organizations.list())], [organization])
    client.team_tokens.delete(team)
    refused(lambda: client_of(token).organizations.list(), HTTPError)

with walk.step("projects and workspaces"):
    project = data(client.projects.create("Networks"))["id"]
    equal("found by its name", client.projects.get_project_id("Networks"), project)
    equal("counts", data(client.projects.show(project))["attributes"]["workspace-count"], 0)
    workspace = data(client.workspaces.create(name="network"))["id"]
    client.workspaces.update(name="network", description="VPCs")
    equal("description", data(client.workspaces.show(name="network"))["attributes"]["description"], "VPCs")
    client.set_ws("network")
    equal("id", client.ws_id, workspace)

with walk.step("states"):
    states = [State(1), State(2)]
    client.workspaces.lock()
    versions = [
        data(
            client.state_versions.create(
                serial=state.serial, md5=state.md5, state=state.base64, lineage=state.lineage
            )
        )["id"]
        for state in states
    ]
    client.workspaces.unlock()
    equal("current", data(client.state_versions.get_current())["id"], versions[1])
    equal("list", [one["id"] for one in client.state_versions.list_all()["data"]], versions[::-1])
    equal("shown", data(client.state_versions.show(versions[0]))["attributes"]["serial"], 1)
    headers = {"Authorization": f"Bearer {owner.token}"}
    equal("content", client.state_versions.download_current(headers=headers), states[1].bytes)
    client.workspaces.lock()
    client.workspaces.force_unlock()

with walk.step("outputs"):
    listed = client.state_version_outputs.list_all(versions[1])["data"]
    equal("names", [one["attributes"]["name"] for one in listed], ["address", "password"])
    secret = data(client.state_version_outputs.show(listed[1]["id"]))["attributes"]["value"]
    equal("secret", secret, "s3cret-2")
    reader = client_of(member.token, org=organization)
    masked = data(reader.state_version_outputs.show_current_for_ws(workspace))
    equal("masked", [one["attributes"]["value"] for one in masked], ["10.0.0.1", None])
    refused(lambda: reader.state_versions.get_current(ws_id=workspace), HTTPError)

with walk.step("the end of everything"):
    client.workspaces.delete("network")
    client.projects.delete(project)
    client.organizations.delete(organization)
    refused(lambda: client.organizations.show(organization), HTTPError)

walk.end()
