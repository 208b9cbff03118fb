import { dirname, join } from 'node:path'
import { installPython } from '../python.ts'

/** The path of a program from the packages in requirements.txt. */
export function pythonProgram(name: 'python' | 'openapi-generator-cli' | 'schemathesis'): string {
  return join(dirname(installPython(import.meta.dirname)), name)
}
