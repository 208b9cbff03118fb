// Lists teams and current outputs with the client that openapi-generator generates.
package main

import (
	"context"
	"encoding/json"
	"log"
	"os"

	purser "example.com/purser/client"
)

func main() {
	configuration := purser.NewConfiguration()
	configuration.Servers = purser.ServerConfigurations{{URL: os.Getenv("PURSER_ADDRESS")}}
	client := purser.NewAPIClient(configuration)
	ctx := context.WithValue(context.Background(), purser.ContextAccessToken, os.Getenv("PURSER_TOKEN"))
	teams, _, err := client.TeamsAPI.
		GetOrganizationsOrganizationNameTeams(ctx, os.Getenv("PURSER_ORGANIZATION")).
		Include([]string{"users"}).PageSize(5).Execute()
	if err != nil {
		log.Fatal(err)
	}
	outputs, _, err := client.OutputsAPI.
		GetWorkspacesWorkspaceIdCurrentStateVersionOutputs(ctx, os.Getenv("PURSER_WORKSPACE")).Execute()
	if err != nil {
		log.Fatal(err)
	}
	names := []string{}
	for _, team := range teams.Data {
		// A request may leave attributes of teams out of its answer.
		names = append(names, team.Attributes.GetName())
	}
	values := map[string]any{}
	for _, output := range outputs.Data {
		values[output.Attributes.Name] = output.Attributes.Value
	}
	if err := json.NewEncoder(os.Stdout).Encode(map[string]any{"teams": names, "outputs": values}); err != nil {
		log.Fatal(err)
	}
}
