// Lists teams and current outputs with the client that openapi-generator generates.
const { Configuration, OutputsApi, TeamsApi } = require('./made/index.js')

const { PURSER_ADDRESS, PURSER_TOKEN, PURSER_ORGANIZATION, PURSER_WORKSPACE } = process.env
const configuration = new Configuration({ basePath: PURSER_ADDRESS, accessToken: PURSER_TOKEN })

async function run() {
  const teams = await new TeamsApi(configuration).getOrganizationsOrganizationNameTeams({
    organizationName: PURSER_ORGANIZATION,
    include: ['users'],
    pageSize: 5,
  })
  const outputs = await new OutputsApi(configuration).getWorkspacesWorkspaceIdCurrentStateVersionOutputs({
    workspaceId: PURSER_WORKSPACE,
  })
  const values = outputs.data.map(({ attributes }) => [attributes.name, attributes.value])
  process.stdout.write(
    JSON.stringify({
      teams: teams.data.map((team) => team.attributes.name),
      outputs: Object.fromEntries(values),
    }),
  )
}

void run()
