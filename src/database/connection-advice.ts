import { codeOf } from '../core/error-fields.ts'
import { reasonOf } from '../core/operator-error.ts'

const UNTRUSTED =
  /^(DEPTH_ZERO_SELF_SIGNED_CERT|SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_(GET_ISSUER_CERT(_LOCALLY)?|VERIFY_LEAF_SIGNATURE))$/

/** The reason why the database cannot be used, in one line, and what the operator can do about it. */
export function reasonWithAdvice(error: unknown): string {
  const reason = reasonOf(error)
    .replaceAll(/\s*\n\s*/g, ' ')
    // Node adds a flag of its own.
    .replace(/; if the root CA is installed locally.*$/, '')
  const advice = adviceFor(codeOf(error) ?? '', reason)
  return advice === undefined ? reason : `${reason}; ${advice}`
}

function adviceFor(code: string, reason: string): string | undefined {
  if (UNTRUSTED.test(code)) return 'name the certificate of its authority with sslrootcert=FILE in the URL'
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'give a name of the certificate as the host of the URL'
  if (reason === 'The server does not support SSL connections') {
    return 'turn TLS on in PostgreSQL; with sslmode=disable in the URL Purser connects without TLS'
  }
  if (/^SASL: .* password must be/.test(reason))
    return 'PostgreSQL asks for a password: write it into the URL, or into PGPASSWORD'
  if (/database disk image is malformed|file is not a database/.test(reason)) {
    return 'the file is damaged, or another program made it: stop the server and restore a backup'
  }
  if (code === '42501') return 'docs/operation.md lists the rights that the role needs'
  return undefined
}
