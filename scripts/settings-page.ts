import { environmentName, flagName, settings, type Setting, type SettingName } from '../src/config.ts'

/** docs/settings.md, generated from the table of settings in src/config.ts. */
export function settingsPage(): string {
  const rows = (Object.keys(settings) as SettingName[]).map((name) => {
    const { help, default: initial, isSecret }: Setting<unknown> = settings[name]
    const shown = initial === undefined ? '' : `\`${initial}\``
    return `| \`${environmentName(name)}\` | \`${flagName(name)}\` | ${shown} | ${cell(help)}${isSecret ? ' (secret)' : ''} |`
  })
  return `# Settings

<!-- Printed from src/config.ts by npm run docs; a test fails when this page is not what it prints. -->

Each setting is an environment variable and a flag of \`purser serve\`: \`PURSER_LISTEN=0.0.0.0:4567 npm start\` and \`npm start -- --listen 0.0.0.0:4567\` are the same. The flag wins.
An empty variable counts as not given. A bad value stops the start with a line for each problem, before anything is touched; a variable that looks like a setting and is none gets a warning.
Secrets are better given as variables: other users of a machine can see flags. The other commands take those settings that they need.

| variable | flag | default | |
|---|---|---|---|
${rows.join('\n')}

## Where things are kept

- **SQLite** (no \`PURSER_DATABASE_URL\`): \`purser.sqlite\` in the data folder, beside \`secret-key\`, which encrypts states and outputs, \`admin-token\` after a first start, and \`lock\`, which keeps a second server out. The folder is closed to others. An empty \`secret-key\` counts as none, and is made anew at a first start; one that is not whole is refused.
- **PostgreSQL**: everything is in the database; any number of nodes may share it, all with the same \`PURSER_SECRET_KEY\`. The data folder holds no more than the generated admin token, and is not made when \`PURSER_ADMIN_TOKEN\` is given.

The database notes the fingerprint of the secret key. A server with another key, or without it, does not start: \`npm run purser -- doctor\` names the fingerprint.

## Several processes

\`PURSER_WORKERS\` above 1 starts so many processes that share the address; one that falls is replaced. With PostgreSQL that uses more CPUs for everything. With SQLite reads gain too, but there is one
writer at a time whatever their number, and those that wait slow each other down: stay with 1 unless reads are what you have most of. Limits such as \`PURSER_CACHE_BYTES\` are for each process.
`
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}
