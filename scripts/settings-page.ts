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
An empty variable counts as not given. Bad values stop the start before it changes anything, with one line for each problem. The start warns about a variable that looks like a setting but is unknown.
Give secrets as variables: other users of the machine can see flags. Each other command accepts the settings that it needs; its \`--help\` lists them.

| variable | flag | default | |
|---|---|---|---|
${rows.join('\n')}

## Where things are kept

- **SQLite** (no \`PURSER_DATABASE_URL\`): \`purser.sqlite\` in the data folder, beside \`secret-key\`, which encrypts states and outputs, \`admin-token\` after a first start, and \`lock\`, which refuses a second server. Only the server's user can read a folder that Purser made. The start warns if others may look into it. It refuses a \`secret-key\` that is empty or incomplete.
- **PostgreSQL**: everything is in the database; any number of nodes may share it, all with the same \`PURSER_SECRET_KEY\`. The data folder only holds the generated admin token. With \`PURSER_ADMIN_TOKEN\` no data folder is created.

The database stores the fingerprint of the secret key. A server with another key, or without it, does not start: \`npm run purser -- doctor\` prints the fingerprint.

## Several processes

\`PURSER_WORKERS\` is the number of processes that share the address. A process that ends is replaced. With PostgreSQL, reads and writes then use more CPUs. With SQLite, reads gain too, but only one process
writes at a time, and waiting writers slow each other down: keep 1 unless most requests are reads. Limits such as \`PURSER_CACHE_BYTES\` hold for each process.
`
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}
