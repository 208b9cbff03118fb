"""What the walks of all clients have in common: steps that are counted, people, and a state."""

import base64
import contextlib
import hashlib
import json
import os
import sys
import traceback
import urllib.request
import uuid

ADDRESS = os.environ["PURSER_ADDRESS"]
ADMIN_TOKEN = os.environ["PURSER_TOKEN"]


class Walk:
    """The steps of one client, each of which needs those before it: the first that fails ends the walk."""

    def __init__(self, client):
        self.client = client
        self.passed = 0

    @contextlib.contextmanager
    def step(self, name):
        try:
            yield
        except Exception:
            print(f"FAILED: {self.client}: {name}\n{traceback.format_exc()}")
            print(f"{self.passed} passed, 1 failed")
            sys.exit(1)
        self.passed += 1

    def end(self):
        print(f"{self.passed} passed, 0 failed")


def equal(what, found, wanted):
    if found != wanted:
        raise AssertionError(f"{what}: {found!r}, and not {wanted!r}")


def refused(work, *kinds):
    """Whatever the client raises for an answer that is an error."""
    try:
        work()
    except kinds as error:
        return error
    raise AssertionError("it was not refused")


def call(token, method, path, attributes=None, kind="users"):
    """What no client here can do: make people, and accept invitations."""
    body = None if attributes is None else json.dumps({"data": {"type": kind, "attributes": attributes}})
    request = urllib.request.Request(
        f"{ADDRESS}/api/v2{path}",
        method=method,
        data=None if body is None else body.encode(),
        headers={"Authorization": f"Bearer {token}", "Content-Type": "application/vnd.api+json"},
    )
    with urllib.request.urlopen(request) as answer:
        text = answer.read()
    return json.loads(text)["data"] if text else None


class Person:
    """Somebody with an account and a token."""

    def __init__(self, prefix):
        self.username = unique(prefix)
        self.email = f"{self.username}@example.com"
        attributes = {"username": self.username, "email": self.email}
        self.id = call(ADMIN_TOKEN, "POST", "/admin/users", attributes)["id"]
        made = call(ADMIN_TOKEN, "POST", f"/users/{self.id}/authentication-tokens")
        self.token = made["attributes"]["token"]

    def accept(self, membership_id):
        call(self.token, "POST", f"/organization-memberships/{membership_id}/actions/accept")


def unique(prefix):
    return f"{prefix}-{uuid.uuid4().hex[:12]}"


class State:
    """A state with one output that everybody may see, and one that is secret."""

    def __init__(self, serial):
        self.serial = serial
        self.lineage = "lineage-of-the-walk"
        outputs = {
            "address": {"value": "10.0.0.1", "type": "string"},
            "password": {"value": f"s3cret-{serial}", "type": "string", "sensitive": True},
        }
        document = {
            "version": 4,
            "terraform_version": "1.10.10",
            "serial": serial,
            "lineage": self.lineage,
            "outputs": outputs,
            "resources": [],
        }
        self.bytes = json.dumps(document).encode()
        self.md5 = hashlib.md5(self.bytes).hexdigest()
        self.base64 = base64.b64encode(self.bytes).decode()
