import { dirname, join } from 'node:path'
import { installPython } from '../python.ts'

/** A program of those that requirements.txt names. */
export function pythonProgram(name: 'python' | 'openapi-generator-cli' | 'schemathesis'): string {
  return join(dirname(installPython(import.meta.dirname)), name)
}
