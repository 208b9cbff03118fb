// Lists teams and current outputs with the client that oapi-codegen generates.
package main

import (
	"context"
	"encoding/json"
	"log"
	"net/http"
	"os"

	"example.com/purser/oapi-codegen/client"
)

func main() {
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("PURSER_TOKEN"))
		return nil
	}
	purser, err := client.NewClientWithResponses(os.Getenv("PURSER_ADDRESS"), client.WithRequestEditorFn(authorize))
	if err != nil {
		log.Fatal(err)
	}
	ctx := context.Background()
	teams, err := purser.GetOrganizationsOrganizationNameTeamsWithResponse(ctx, os.Getenv("PURSER_ORGANIZATION"), nil)
	if err != nil || teams.ApplicationvndApiJSON200 == nil {
		log.Fatal(err, string(teams.Body))
	}
	outputs, err := purser.GetWorkspacesWorkspaceIdCurrentStateVersionOutputsWithResponse(ctx, os.Getenv("PURSER_WORKSPACE"))
	if err != nil || outputs.ApplicationvndApiJSON200 == nil {
		log.Fatal(err, string(outputs.Body))
	}
	names := []string{}
	for _, team := range teams.ApplicationvndApiJSON200.Data {
		// A request may leave attributes of teams out of its answer.
		names = append(names, *team.Attributes.Name)
	}
	values := map[string]any{}
	for _, output := range outputs.ApplicationvndApiJSON200.Data {
		values[output.Attributes.Name] = output.Attributes.Value
	}
	if err := json.NewEncoder(os.Stdout).Encode(map[string]any{"teams": names, "outputs": values}); err != nil {
		log.Fatal(err)
	}
}
