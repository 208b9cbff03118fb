import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { JsonScanner } from '../src/state-file/json-scanner.ts'
import type { JsonVisitor } from '../src/state-file/json-visitor.ts'
import { decodeString } from '../src/state-file/raw-json.ts'
import { StateError } from '../src/state-file/state-error.ts'
import { StateReader, type StateHeader } from '../src/state-file/state-reader.ts'
import {
  cut,
  cuts,
  objectTokens,
  spaced,
  stringText,
  valueTokens,
  whitespace,
  type Tokens,
} from './support/json-texts.ts'
import { isLong, longTimeout, runs } from './support/runs.ts'

function readState(file: string | Uint8Array, sizes = [1_000_000]) {
  const reader = new StateReader('state')
  for (const part of cut(Buffer.from(file), sizes)) {
    const chunk = Uint8Array.from(part)
    reader.push(chunk)
    // The caller reuses the memory of a chunk, so the reader must not keep references to it.
    chunk.fill(0xff)
  }
  const { header, outputs } = reader.finish()
  return { ...(header as StateHeader), outputs }
}

function outputsOf(file: string) {
  return readState(file).outputs?.list ?? []
}

/** The error of a read. Undefined if it succeeds. */
function errorOf(file: string | Uint8Array, sizes?: number[]): StateError | undefined {
  try {
    readState(file, sizes)
    return undefined
  } catch (error) {
    if (error instanceof StateError) return error
    throw error
  }
}

const spaces = fc.array(whitespace, { minLength: 1, maxLength: 5 })
const outputTokens = fc.record({
  value: valueTokens,
  isSensitive: fc.boolean(),
  type: fc.option(valueTokens),
})
const junkMembers = fc.array(
  fc.tuple(fc.constantFrom('"resources"', '"check_results"', '"x"'), valueTokens),
  {
    maxLength: 2,
  },
)

/** The tokens of a state with these outputs, and with other members before and after them. */
const stateTokensOf = (maxLength: number) =>
  fc
    .record({
      outputs: fc.uniqueArray(fc.tuple(stringText, outputTokens), {
        selector: ([name]) => decodeString(name),
        minLength: 1,
        maxLength,
      }),
      before: junkMembers,
      after: junkMembers,
    })
    .map(({ outputs, before, after }) => {
      const members = outputs.map(([name, { value, isSensitive, type }]): [string, Tokens] => [
        name,
        objectTokens([
          ['"value"', value],
          ...(type === null ? [] : [['"type"', type] as [string, Tokens]]),
          ['"sensitive"', [String(isSensitive)]],
        ]),
      ])
      return {
        outputs,
        tokens: objectTokens([
          ...before,
          ['"version"', ['4']],
          ['"outputs"', objectTokens(members)],
          ...after,
        ]),
      }
    })

const stateTokens = stateTokensOf(20)

describe('reading outputs', () => {
  test(
    'keeps every value byte for byte but for the whitespace between tokens',
    { timeout: longTimeout },
    () => {
      let values = 0
      fc.assert(
        fc.property(stateTokens, spaces, cuts, ({ outputs, tokens }, spaces, sizes) => {
          const read = readState(spaced(tokens, spaces), sizes).outputs?.list ?? []
          const expected = outputs
            .map(([name, { value, isSensitive }]) => ({
              name,
              value: value.join(''),
              sensitive: isSensitive,
            }))
            .sort((a, b) => Buffer.compare(wtf8(decodeString(a.name)), wtf8(decodeString(b.name))))
          values += outputs.length
          expect(read.map(({ name, value, sensitive }) => ({ name, value, sensitive }))).toEqual(expected)
        }),
        runs(400, 200_000),
      )
      expect(values).toBeGreaterThan(isLong ? 1_000_000 : 1000)
    },
  )

  test('agrees with JSON.parse', { timeout: longTimeout }, () => {
    fc.assert(
      fc.property(stateTokens, spaces, cuts, ({ tokens }, spaces, sizes) => {
        const text = spaced(tokens, spaces)
        const parsed = JSON.parse(text) as { outputs: Record<string, { value: unknown; sensitive: boolean }> }
        const list = readState(text, sizes).outputs?.list ?? []
        const read = list.map(({ name, value, sensitive }) => [
          decodeString(name),
          JSON.parse(value),
          sensitive,
        ])
        const expected = Object.entries(parsed.outputs).map(([name, { value, sensitive }]) => [
          name,
          value,
          sensitive,
        ])
        expect(new Map(read.map((output) => [output[0], output]))).toEqual(
          new Map(expected.map((output) => [output[0], output])),
        )
      }),
      runs(200, 20_000),
    )
  })

  test('keeps numbers, escapes and the order of names as they are written', () => {
    const value =
      '[1e400,-0,0.10,123456789012345678901234567890.10,"\\u0041\\/\\ud800\\u0000",{"b":1,"a":2,"b":3,"__proto__":4}]'
    const [output] = outputsOf(`{"version":4,"outputs":{"x":{"value":${value}}}}`)
    expect(output?.value).toBe(value)
  })

  test('takes __proto__, NUL and unpaired surrogates as names', () => {
    const outputs = outputsOf(
      '{"version":4,"outputs":{"\\ud800":{"value":1},"__proto__":{"value":2},"\\u0000":{"value":3}}}',
    )
    expect(outputs.map(({ name, value }) => [name, value])).toEqual([
      ['"\\u0000"', '3'],
      ['"__proto__"', '2'],
      ['"\\ud800"', '1'],
    ])
  })

  test('lets the last of two outputs of the same name count, however it is spelled', () => {
    const outputs = outputsOf(
      '{"version":4,"outputs":{"a":{"value":1,"sensitive":true},"b":{"value":2},"\\u0061":{"value":3}}}',
    )
    expect(outputs.map(({ name, value, sensitive }) => [name, value, sensitive])).toEqual([
      ['"\\u0061"', '3', false],
      ['"b"', '2', false],
    ])
  })

  test('lets the last of two members of the same name count', () => {
    const file = `{"version":99,"serial":1,"outputs":[],"version":4,"outputs":{"a":{"value":1}},
      "outputs":{"b":{"value":1,"value":2,"sensitive":false,"sensitive":true}},"serial":"x","serial":2}`
    const state = readState(file)
    const end = file.length - 1
    expect(state).toMatchObject({ version: 4, serialPlace: { start: end - 1, end } })
    expect(state.outputs?.list).toMatchObject([{ name: '"b"', value: '2', sensitive: true }])
  })

  test('finds no outputs but those of the state', () => {
    const decoy = '{"outputs":{"decoy":{"value":1}}}'
    expect(outputsOf(`{"version":4,"resources":[${decoy}],"x":${decoy},"modules":[${decoy}]}`)).toEqual([])
    expect(
      outputsOf(`{"version":4,"x":"\\"outputs\\":{}","outputs":{"a":{"value":${decoy}}}}`),
    ).toMatchObject([{ name: '"a"', value: decoy }])
  })

  test('counts the bytes of names, values and types', () => {
    const { outputs } = readState('{"version":4,"outputs":{"é" : { "value" : [ 1 , "é" ] }}}')
    expect(outputs?.bytes).toBe(Buffer.byteLength('"é"[1,"é"]["tuple",["number","string"]]'))
  })
})

/** UTF-8, extended to unpaired surrogates. */
function wtf8(text: string): Buffer {
  return Buffer.concat(
    Array.from(text, (character) => {
      if (character.isWellFormed()) return Buffer.from(character)
      const unit = character.charCodeAt(0)
      return Buffer.from([0xed, 0x80 | ((unit >> 6) & 0x3f), 0x80 | (unit & 0x3f)])
    }),
  )
}

describe('broken states', () => {
  const isJson = (bytes: Uint8Array): boolean => {
    try {
      const parsed: unknown = JSON.parse(
        new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes),
      )
      return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
    } catch {
      return false
    }
  }
  const edit = fc.record({
    at: fc.nat(),
    removed: fc.integer({ min: 0, max: 3 }),
    added: fc.oneof(
      fc.constantFrom(
        ...Array.from('{}[]",:\\0123456789-+.eEtfnu \n\u0000\u001f'),
        'null',
        '\\u',
        '\\u00',
        '01',
        '1.',
        '.5',
        '/**/',
        '"a":1,',
      ),
      fc.uint8Array({ maxLength: 3 }),
    ),
  })

  test('are told from good ones as JSON.parse tells them', { timeout: longTimeout }, () => {
    let good = 0
    fc.assert(
      fc.property(
        stateTokens,
        spaces,
        fc.array(edit, { minLength: 1, maxLength: 3 }),
        cuts,
        (state, spaces, edits, sizes) => {
          let bytes = Buffer.from(spaced(state.tokens, spaces))
          for (const { at, removed, added } of edits) {
            const start = at % (bytes.length + 1)
            bytes = Buffer.concat([
              bytes.subarray(0, start),
              Buffer.from(added as string),
              bytes.subarray(start + removed),
            ])
          }
          const code = errorOf(bytes, sizes)?.code
          if (isJson(bytes)) {
            good++
            expect([undefined, 'not-a-state']).toContain(code)
          } else {
            expect(code === undefined || code === 'too-large' || code === 'too-deep').toBe(false)
          }
        },
      ),
      runs(1500, 300_000),
    )
    expect(good).toBeGreaterThan(0)
  })

  test('may be cut off anywhere', { timeout: longTimeout }, () => {
    fc.assert(
      fc.property(stateTokensOf(2), spaces, cuts, ({ tokens }, spaces, sizes) => {
        const bytes = Buffer.from(spaced(tokens, spaces).trimEnd())
        const codes = Array.from(bytes, (_, end) => errorOf(bytes.subarray(0, end), sizes)?.code)
        expect(codes.filter((code) => code !== 'not-json' && code !== 'not-utf8')).toEqual([])
      }),
      runs(25, 1000),
    )
  })

  test('may be ill-formed UTF-8 wherever a text can stand', () => {
    const interesting = [
      0x00, 0x41, 0x7f, 0x80, 0xbf, 0xc0, 0xc2, 0xdf, 0xe0, 0xa0, 0xed, 0x9f, 0xef, 0xf0, 0x90, 0xf4, 0x8f,
      0xf5, 0xff,
    ]
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...interesting), { maxLength: 8 }), cuts, (middle, sizes) => {
        const text = Buffer.from(middle.map((byte) => (byte < 0x20 ? 0x20 : byte)))
        const bytes = Buffer.concat([Buffer.from('{"version":4,"é":"'), text, Buffer.from('"}')])
        const error = errorOf(bytes, sizes)
        expect(error?.code).toBe(isJson(bytes) ? undefined : 'not-utf8')
        if (error === undefined) return
        const isUtf8 = (end: number) =>
          Buffer.from(bytes.subarray(0, end).toString()).equals(bytes.subarray(0, end))
        expect(isUtf8(error.offset as number)).toBe(true)
      }),
      runs(1000, 100_000),
    )
  })

  test.each([
    ['', 'not-json', 0],
    ['   ', 'not-json', 3],
    ['\ufeff{"version":4}', 'not-json', 0],
    ['not json', 'not-json', 1],
    ['{"version":4', 'not-json', 12],
    ['{"version":4}}', 'not-json', 13],
    ['{"version":4} {}', 'not-json', 14],
    ['{"version":04}', 'not-json', 12],
    ['{"version":4,}', 'not-json', 13],
    ['{"version":4,"x":"\t"}', 'not-json', 18],
    ['{"version":4,"x":"\\u12g4"}', 'not-json', 22],
    ['{"version":4,"x":nul}', 'not-json', 20],
    ['{"version":4,"x":1.}', 'not-json', 19],
    ['{"version":4,"x":[}', 'not-json', 18],
    ['{"version":4,"x":-}', 'not-json', 18],
    ['{"version":4,"x":-01}', 'not-json', 19],
    ['{"version":4,"x":+1}', 'not-json', 17],
    ['{"version":4,"x":.5}', 'not-json', 17],
    ['{"version":4,"x":1.e5}', 'not-json', 19],
    ['{"version":4,"x":1e}', 'not-json', 19],
    ['{"version":4,"x":1e+}', 'not-json', 20],
    ['{"version":4,"x":1e5.5}', 'not-json', 20],
    ['{"version":4,"x":0x1}', 'not-json', 18],
    ['{"version":4,"x":[1}', 'not-json', 19],
    ['{"version":4 "x":1}', 'not-json', 13],
    ['{"version":4,"x" 1}', 'not-json', 17],
    ['{"version":4,"x":1 2}', 'not-json', 19],
    ['{version:4}', 'not-json', 1],
  ])('%j is not JSON', (file, code, offset) => {
    expect(errorOf(file)).toMatchObject({ code, offset })
    expect(errorOf(file, [1])).toMatchObject({ code, offset })
  })

  test.each([
    ['[]', 'The state is not an object'],
    ['"x"', 'The state is not an object'],
    ['{}', 'The state is of no format that can be read: its version is not 3 or 4'],
    ['{"version":99}', 'The state is of no format that can be read: its version is not 3 or 4'],
    ['{"version":"4"}', 'The state is of no format that can be read: its version is not 3 or 4'],
    ['{"version":4.0}', 'The state is of no format that can be read: its version is not 3 or 4'],
    ['{"version":[4]}', 'The state is of no format that can be read: its version is not 3 or 4'],
    ['{"version":4,"outputs":[]}', '"outputs" is not an object'],
    ['{"version":4,"outputs":null}', '"outputs" is not an object'],
    ['{"version":4,"outputs":"x"}', '"outputs" is not an object'],
    ['{"version":4,"outputs":{"a":1}}', 'The output "a" is not an object'],
    ['{"version":4,"outputs":{"a":{}}}', 'The output "a" has no value'],
    ['{"version":4,"outputs":{"a":{"type":"string"},"b":{"value":1}}}', 'The output "a" has no value'],
    [
      '{"version":4,"outputs":{"a":{"value":1,"sensitive":"yes"}}}',
      'The output "a" is sensitive neither true nor false',
    ],
    [
      '{"version":4,"outputs":{"a":{"value":1,"sensitive":null}}}',
      'The output "a" is sensitive neither true nor false',
    ],
    ['{"version":3,"modules":{}}', '"modules" is not an array'],
    ['{"version":3,"modules":[1]}', 'A member of "modules" is not an object'],
    ['{"version":3,"modules":[{"outputs":[],"path":["root"]}]}', '"outputs" is not an object'],
  ])('%s is no state', (file, message) => {
    const error = errorOf(file)
    expect(error).toMatchObject({ code: 'not-a-state', message })
  })

  test('may be nested 500 deep and no deeper', () => {
    const nested = (depth: number) => `{"version":4,"x":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`
    expect(errorOf(nested(500))).toBeUndefined()
    expect(errorOf(nested(501))).toMatchObject({ code: 'too-deep', offset: 17 + 499 })
    expect(errorOf(nested(10_000), [7])).toMatchObject({ code: 'too-deep' })
    const output = (depth: number) =>
      `{"version":4,"outputs":{"a":{"value":${'{"a":'.repeat(depth - 3)}1${'}'.repeat(depth - 3)}}}}`
    expect(errorOf(output(500))).toBeUndefined()
    expect(errorOf(output(501))).toMatchObject({ code: 'too-deep' })
  })

  test('may have too many outputs, or too much in them', () => {
    const many = Array.from({ length: 100_001 }, (_, index) => `"${index}":{"value":0}`)
    expect(errorOf(`{"version":4,"outputs":{${many.join(',')}}}`)).toMatchObject({ code: 'too-large' })
    expect(errorOf(`{"version":4,"outputs":{${many.slice(1).join(',')}}}`)).toBeUndefined()
    const value = JSON.stringify('x'.repeat(16 * 1024 * 1024))
    const large = Array.from({ length: 4 }, (_, index) => `"${index}":{"value":${value}}`)
    expect(errorOf(`{"version":4,"outputs":{${large.join(',')}}}`)).toMatchObject({ code: 'too-large' })
    expect(errorOf(`{"version":4,"outputs":{${large.slice(1).join(',')}}}`)).toBeUndefined()
  })
})

test('no text longer than the limit is kept', () => {
  const visitor: JsonVisitor = { begin: () => 'capture', captured: () => {}, end: () => {} }
  const scan = (text: string, sizes: number[]) => {
    const scanner = new JsonScanner(visitor, 'The text', 10)
    for (const chunk of cut(Buffer.from(text), sizes)) scanner.push(chunk)
    scanner.finish()
  }
  for (const sizes of [[1], [4], [100]]) {
    expect(() => scan('"12345678"', sizes)).not.toThrow()
    expect(() => scan('[ 1, 2, 3 , 4 ]  ', sizes)).not.toThrow()
    expect(() => scan('"123456789"', sizes)).toThrow('The text holds one text of more than 10 bytes')
    expect(() => scan('[1, 2, 3, 4,5]', sizes)).toThrow(StateError)
  }
})

describe('state headers', () => {
  test('are read wherever they stand, with the place of the serial number', () => {
    const file = '{"é":1, "lineage":"3f0c-1", "serial" : 42 ,"terraform_version":"1.10.10","version":4}'
    const state = readState(file, [3])
    expect(state).toMatchObject({
      version: 4,
      encrypted: false,
      terraformVersion: '1.10.10',
    })
    const { start, end } = state.serialPlace as { start: number; end: number }
    expect(Buffer.from(file).subarray(start, end).toString()).toBe('42')
    expect(readState('{"version":4,"serial":99999999999999999999}').serialPlace).toEqual({
      start: 22,
      end: 42,
    })
  })

  test.each([
    ['"serial":-1', { serialPlace: null }],
    ['"serial":1.5', { serialPlace: null }],
    ['"serial":[1]', { serialPlace: null }],
    ['"terraform_version":7', { terraformVersion: null }],
    ['"terraform_version":"a\\u0000b"', { terraformVersion: null }],
    ['"terraform_version":"é"', { terraformVersion: null }],
    [`"terraform_version":"${'x'.repeat(256)}"`, { terraformVersion: null }],
    ['"terraform_version":{"a":"1"}', { terraformVersion: null }],
  ])('%s is as good as absent', (member, expected) => {
    expect(readState(`{"version":4,${member}}`)).toMatchObject(expected)
  })
})

describe('resources of a state', () => {
  // The number of all and of managed resources. A resource counts as managed unless its mode is data.
  test.each([
    ['{"version":4}', 0, 0],
    ['{"version":4,"resources":[]}', 0, 0],
    ['{"version":4,"resources":[{"instances":[{},{}]},{"a":["b"]}],"outputs":{}}', 2, 2],
    ['{"resources":[{},{},{}],"version":4,"resources":[7]}', 1, 1],
    ['{"version":4,"resources":{"a":{}},"modules":[{"resources":{"a":{}}}]}', 0, 0],
    ['{"version":4,"resources":[{"mode":"data"},{"mode":"managed"},{"\\u006dode":"d\\u0061ta"}]}', 3, 1],
    ['{"version":4,"resources":[{"mode":"data","mode":"managed"},{"mode":"managed","mode":"data"}]}', 2, 1],
    [
      '{"version":4,"resources":[{"mode":"data","mode":["data"]},{"mode":{"mode":"data"}}, [ "data" ]]}',
      3,
      3,
    ],
    ['{"version":4,"resources":[{"mode":"data"},{"instances":[{"mode":"data"}]},{"type":"data"}]}', 3, 2],
    ['{"version":3,"resources":[{}],"modules":[{"resources":{"a":{},"b":{}}},{"resources":{"c":{}}}]}', 3, 3],
    [
      '{"version":3,"modules":[{"resources":{"data.a.b":{},"\\u0064ata.c.d":{},"a.data.b":{}, "data": {}}}]}',
      4,
      2,
    ],
    ['{"version":3,"modules":[{"resources":{}}]}', 0, 0],
    ['{"encrypted_data":"AAAA","encryption_version":"v0"}', null, null],
  ])('%s', (file, resourcesCount, managedResourcesCount) => {
    for (const size of [1, 7, 1000]) {
      expect(readState(file, [size])).toMatchObject({ resourcesCount, managedResourcesCount })
    }
  })
})

describe('state format 3', () => {
  test('names no Terraform types, and no root module where there is no path', () => {
    const [output, ...others] = outputsOf(`{"version":3,"modules":[
      {"path":["root"],"outputs":{"a":{"type":"string","value":7}}},{"outputs":{"b":{"value":1}}}]}`)
    expect(output).toMatchObject({ name: '"a"', type: 'number', detailedType: '"number"' })
    expect(others).toEqual([])
  })

  test('has its outputs in the root module, with the types that their values imply', () => {
    const file = `{"version":3,"terraform_version":"0.11.14","serial":2,"lineage":"l","modules":[
      {"path":["root","child"],"outputs":{"hidden":{"sensitive":false,"type":"string","value":"x"}},"resources":{}},
      {"outputs":{"list":{"sensitive":true,"type":"list","value":["a","b"]},"one":{"type":"string","value":"1"}},
       "path":[ "root" ],"resources":{"a":{"type":"null_resource"}},"depends_on":[]}]}`
    expect(readState(file, [5])).toMatchObject({
      version: 3,
      terraformVersion: '0.11.14',
      outputs: {
        list: [
          {
            name: '"list"',
            value: '["a","b"]',
            sensitive: true,
            type: 'array',
            detailedType: '["tuple",["string","string"]]',
          },
          { name: '"one"', value: '"1"', sensitive: false, type: 'string', detailedType: '"string"' },
        ],
      },
    })
    expect(readState(file).outputs?.list).toHaveLength(2)
  })

  test('ignores outputs at the top, as format 4 ignores modules', () => {
    expect(outputsOf('{"version":3,"outputs":{"a":{"value":1}}}')).toEqual([])
    expect(outputsOf('{"version":3,"outputs":7}')).toEqual([])
    expect(outputsOf('{"version":4,"modules":[{"path":["root"],"outputs":{"a":{"value":1}}}]}')).toEqual([])
    expect(outputsOf('{"version":4,"modules":7}')).toEqual([])
  })
})

describe('states that OpenTofu has encrypted', () => {
  const encrypted =
    '{"serial":5,"lineage":"l","meta":{"key_provider.pbkdf2.a":"e30="},"encrypted_data":"AAAA","encryption_version":"v0"}'

  test('have a header, and outputs that cannot be read', () => {
    expect(readState(encrypted)).toMatchObject({
      version: null,
      encrypted: true,
      terraformVersion: null,
      outputs: null,
    })
  })

  test('are not what has a version, or only half of the marks', () => {
    expect(readState(encrypted.replace('{', '{"version":4,'))).toMatchObject({
      encrypted: false,
      outputs: { list: [] },
    })
    expect(errorOf('{"encrypted_data":"AAAA"}')).toMatchObject({ code: 'not-a-state' })
    const twice = '{"encrypted_data":"AAAA","encryption_version":"v0","encrypted_data":{}}'
    expect(errorOf(twice)).toMatchObject({ code: 'not-a-state' })
    expect(errorOf('{"encrypted_data":{},"encryption_version":"v0"}')).toMatchObject({ code: 'not-a-state' })
  })
})

describe('documents of outputs', () => {
  const outputsIn = (text: string) => {
    const reader = new StateReader('outputs')
    reader.push(Buffer.from(text))
    return reader.finish().outputs
  }

  test('are read as the outputs of a state are', () => {
    const outputs = outputsIn(
      '{"b":{"sensitive":true,"type":["list","number"],"value":[1.0, 2]},"a":{"value":null}}',
    )
    expect(outputs?.list).toEqual([
      { name: '"a"', value: 'null', sensitive: false, type: 'string', detailedType: '"dynamic"' },
      { name: '"b"', value: '[1.0,2]', sensitive: true, type: 'array', detailedType: '["list","number"]' },
    ])
  })

  test.each([
    ['[]', 'not-a-state'],
    ['{"a":1}', 'not-a-state'],
    ['{"a":{"type":"string"}}', 'not-a-state'],
    ['{"a":{"value":1}', 'not-json'],
  ])('%s is refused', (text, code) => {
    expect(() => outputsIn(text)).toThrow(expect.objectContaining({ code }))
  })
})
