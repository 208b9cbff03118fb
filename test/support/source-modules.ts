import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { parseSync, Visitor, type ESTree } from 'vite'

const src = resolve(import.meta.dirname, '../../src')

export type Import = {
  readonly from: string
  readonly to: string
  /** Whether it runs when the module is loaded. Else a function imports it. */
  readonly isStatic: boolean
}

/** A file of src as the tests of its structure see it. Paths begin in src. */
export type SourceModule = {
  readonly file: string
  /** What the file imports from src to run. Types are erased, so they do not count. */
  readonly imports: readonly Import[]
  /** Imports whose path is not a text. */
  readonly unknownImports: readonly string[]
  /** Variables of the module that can be assigned, and objects that are not plain values. */
  readonly variables: readonly string[]
  /** The names of the module's other constants. */
  readonly constants: readonly string[]
  /** Imported names, each as `file: name`. */
  readonly named: ReadonlyMap<string, string>
  /** The names of constants and imports whose content a function changes. */
  readonly changed: ReadonlySet<string>
  /** Comparisons with the name of an engine, as text. */
  readonly engineTests: readonly string[]
  /** Assertions that something is a row, or of a type that TypeScript refuses without a detour. */
  readonly rowAssertions: readonly string[]
}

/** Their content changes only by calls and assignments, which `changed` finds. */
const plainClasses = new Set(['Map', 'Set', 'RegExp', 'URL', 'Uint8Array', 'Uint16Array', 'Uint32Array'])

const changingMethods = new Set(
  'set add delete clear push pop shift unshift splice sort reverse fill copyWithin'.split(' '),
)

export function moduleOf(file: string, text: string): SourceModule {
  const { program, errors } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`)
  const imports: Import[] = []
  const unknownImports: string[] = []
  const variables: string[] = []
  const constants: string[] = []
  const named = new Map<string, string>()
  const changed = new Set<string>()
  const engineTests: string[] = []
  const rowAssertions: string[] = []
  const textOf = ({ start, end }: ESTree.Node): string => text.slice(start, end)
  const toSource = (path: string): string => relative(src, resolve(src, dirname(file), path))

  const addImport = (path: string, isStatic: boolean) => {
    if (path.startsWith('.')) imports.push({ from: file, to: toSource(path), isStatic })
  }
  const addDeclared = ({ kind, declarations }: ESTree.VariableDeclaration) => {
    for (const { id, init } of declarations) {
      const made = withoutType(init)
      const isObject = made?.type === 'NewExpression' && !plainClasses.has(textOf(made.callee))
      const to = kind === 'const' && !isObject ? constants : variables
      to.push(textOf(id).replace(/:.*/s, ''))
    }
  }
  for (const statement of program.body) {
    if (statement.type === 'VariableDeclaration') addDeclared(statement)
    if (statement.type === 'ImportDeclaration' && statement.importKind !== 'type') {
      addImport(statement.source.value, true)
      for (const specifier of statement.specifiers) {
        if (specifier.type !== 'ImportSpecifier') continue
        const { local, imported } = specifier
        named.set(local.name, `${toSource(statement.source.value)}: ${textOf(imported)}`)
      }
    }
    if (statement.type === 'ExportAllDeclaration' && statement.exportKind !== 'type') {
      addImport(statement.source.value, true)
    }
    if (statement.type === 'ExportNamedDeclaration') {
      const { source, exportKind, declaration } = statement
      if (source !== null && exportKind !== 'type') addImport(source.value, true)
      if (declaration?.type === 'VariableDeclaration') addDeclared(declaration)
    }
  }

  let depth = 0
  const enter = () => void (depth += 1)
  const leave = () => void (depth -= 1)
  /** A module that changes its own constants while it is loaded only makes them. */
  const addChanged = (place: ESTree.Node) => {
    const root = rootOf(place)
    if (depth > 0 && root !== undefined) changed.add(root)
  }
  new Visitor({
    FunctionDeclaration: enter,
    'FunctionDeclaration:exit': leave,
    FunctionExpression: enter,
    'FunctionExpression:exit': leave,
    ArrowFunctionExpression: enter,
    'ArrowFunctionExpression:exit': leave,
    ImportExpression({ source }) {
      if (source.type === 'Literal' && typeof source.value === 'string') addImport(source.value, false)
      else unknownImports.push(`${file}: ${textOf(source)}`)
    },
    PropertyDefinition(property) {
      if (property.static) variables.push(`static ${textOf(property.key)}`)
    },
    AssignmentExpression({ left }) {
      if (left.type === 'MemberExpression') addChanged(left)
    },
    UpdateExpression({ argument }) {
      if (argument.type === 'MemberExpression') addChanged(argument)
    },
    UnaryExpression({ operator, argument }) {
      if (operator === 'delete') addChanged(argument)
    },
    CallExpression({ callee, arguments: [first] }) {
      if (textOf(callee) === 'Object.assign' && first !== undefined) addChanged(first)
      if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return
      if (changingMethods.has(callee.property.name)) addChanged(callee.object)
    },
    BinaryExpression(comparison) {
      const { left, right } = comparison
      if (isEngine(left) || isEngine(right)) engineTests.push(`${file}: ${textOf(comparison)}`)
    },
    TSAsExpression(assertion) {
      const { expression, typeAnnotation } = assertion
      if (expression.type !== 'TSAsExpression' && !isRow(typeAnnotation)) return
      rowAssertions.push(`${file}: ${textOf(assertion)}`)
    },
    SwitchCase({ test }) {
      if (test !== null && isEngine(test)) engineTests.push(`${file}: case ${textOf(test)}`)
    },
  }).visit(program)
  return { file, imports, unknownImports, variables, constants, named, changed, engineTests, rowAssertions }
}

const isEngine = (node: ESTree.Node): boolean =>
  node.type === 'Literal' && (node.value === 'sqlite' || node.value === 'postgres')

/** Whether it is a type such as `TeamRow`, or a list of them. Rows are named so. */
function isRow(type: ESTree.TSType): boolean {
  if (type.type === 'TSArrayType') return isRow(type.elementType)
  if (type.type === 'TSTypeOperator') return isRow(type.typeAnnotation)
  if (type.type === 'TSUnionType') return type.types.some(isRow)
  return (
    type.type === 'TSTypeReference' &&
    type.typeName.type === 'Identifier' &&
    /^R$|Row$/.test(type.typeName.name)
  )
}

function withoutType(node: ESTree.Expression | null): ESTree.Expression | null {
  return node?.type === 'TSAsExpression' || node?.type === 'TSSatisfiesExpression'
    ? withoutType(node.expression)
    : node
}

/** The name that an expression such as `name.member[0]` begins with. */
function rootOf(node: ESTree.Node): string | undefined {
  if (node.type === 'Identifier') return node.name
  if (node.type === 'MemberExpression') return rootOf(node.object)
  return node.type === 'TSAsExpression' || node.type === 'TSNonNullExpression'
    ? rootOf(node.expression)
    : undefined
}

export const sourceModules: readonly SourceModule[] = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.ts'))
  .map((file) => moduleOf(file, readFileSync(join(src, file), 'utf8')))
