import { hash } from 'node:crypto'
import { commandName, version } from '../core/version.ts'
import type { RawRoute } from './raw-route.ts'

const style = `
:root { color-scheme: light dark; font: 16px/1.5 system-ui, sans-serif }
body { max-width: 46rem; margin: 4rem auto; padding: 0 1.5rem }
h1 { font-size: 1.5rem }
pre { padding: .75rem 1rem; overflow-x: auto; border: 1px solid color-mix(in srgb, currentColor 25%, transparent); border-radius: .4rem }
small { opacity: .7 }`

const headers = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-cache',
  // The page loads nothing and runs no script; its single style is allowed by hash.
  'content-security-policy': `default-src 'none'; style-src 'sha256-${hash('sha256', style, 'base64')}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  'referrer-policy': 'no-referrer',
}

/** A page for a browser. */
export const homeRoute: RawRoute = {
  method: 'GET',
  path: '/',
  summary: 'Start page for browsers',
  open: 'it says nothing of what is stored',
  answer: async (call) => ({ status: 200, body: page(call.origin), headers }),
}

function page(origin: string): string {
  const address = escape(origin)
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Purser</title>
<style>${style}</style>
<main>
<h1>Purser</h1>
<p>This server keeps the teams of Terraform and OpenTofu organizations, what they may do, and the output values of stored
states: others can read outputs without ever being handed a state.</p>
<p><a href="/app">Sign in</a> to see them in pages. <code>${commandName} user password-link admin</code>
prints a link that sets the administrator's password.</p>
<p>With a token in <code>$TOKEN</code> (the first one is in <code>admin-token</code> in the data folder, unless the operator chose it):</p>
<pre>curl -H "Authorization: Bearer $TOKEN" ${address}/api/v2/organizations
curl -H "Authorization: Bearer $TOKEN" ${address}/api/v2/account/details
${commandName} config tofu</pre>
<p>The last line, typed where Purser is installed, prints what OpenTofu and Terraform need to use this server.</p>
<ul>
<li><a href="/api/v2/openapi.json">The interface</a>, as an OpenAPI document</li>
<li><a href="/healthz">/healthz</a> and <a href="/readyz">/readyz</a>, for supervisors and load balancers</li>
<li>The documentation is in the folder <code>docs</code> of Purser's repository; <code>${commandName} --help</code> teaches the command line</li>
</ul>
<p><small>Purser ${escape(version)}</small></p>
</main>
</html>
`
}

/** The origin comes from the Host header, so it can be any text. */
function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
