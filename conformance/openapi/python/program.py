"""Lists teams and current outputs with the client that openapi-generator made."""

import json
import os

import openapi_client

configuration = openapi_client.Configuration(
    host=os.environ["PURSER_ADDRESS"], access_token=os.environ["PURSER_TOKEN"]
)
with openapi_client.ApiClient(configuration) as client:
    teams = openapi_client.TeamsApi(client).get_organizations_organization_name_teams(
        os.environ["PURSER_ORGANIZATION"], include=["users"], page_size=5
    )
    outputs = openapi_client.OutputsApi(client).get_workspaces_workspace_id_current_state_version_outputs(
        os.environ["PURSER_WORKSPACE"]
    )
    print(
        json.dumps(
            {
                "teams": [team.attributes.name for team in teams.data],
                "outputs": {output.attributes.name: output.attributes.value for output in outputs.data},
            }
        )
    )
