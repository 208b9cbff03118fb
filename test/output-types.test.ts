import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { impliedType, maskedType, MAX_IMPLIED_TYPE, resolveType } from '../src/state-file/output-types.ts'
import { valueTokens } from './support/json-texts.ts'
import { longTimeout, runs } from './support/runs.ts'

describe('declared types', () => {
  test.each([
    ['"string"', '"x"', 'string'],
    ['"number"', '1e400', 'number'],
    ['"bool"', 'false', 'boolean'],
    ['["list","string"]', '["a"]', 'array'],
    ['["set","bool"]', '[true]', 'array'],
    ['["tuple",[]]', '[]', 'array'],
    ['["tuple",["string",["list","number"]]]', '["a",[1]]', 'array'],
    ['["map","number"]', '{"a":1}', 'object'],
    ['["object",{}]', '{}', 'object'],
    ['["object",{"a":"string","b":["map",["set","bool"]]}]', '{"a":"x","b":{}}', 'object'],
    ['["object",{"a":"string","\\"}":"bool"},["a","\\"}"]]', '{"a":"x"}', 'object'],
    ['["object",{"a":"string"},[]]', '{"a":"x"}', 'object'],
    ['["list",["object",{"__proto__":["tuple",["dynamic"]]}]]', '[]', 'array'],
    ['["map",["map",["list",["set",["tuple",["bool"]]]]]]', '{}', 'object'],
  ])('%s is kept as it is', (detailedType, value, type) => {
    expect(resolveType(detailedType, value)).toEqual({ type, detailedType })
    expect(resolveType(detailedType, 'null')).toEqual({ type, detailedType })
  })

  test.each([
    ['"x"', 'string'],
    ['-1', 'number'],
    ['true', 'boolean'],
    ['[1]', 'array'],
    ['{"a":1}', 'object'],
    ['null', 'string'],
  ])('dynamic, with the value %s, says what the value is', (value, type) => {
    expect(resolveType('"dynamic"', value)).toEqual({ type, detailedType: '"dynamic"' })
  })

  test.each([
    'null',
    '7',
    '"list"',
    '"String"',
    '[]',
    '["list"]',
    '["list","string","string"]',
    '["list",["string"]]',
    '["tuple","string"]',
    '["tuple",["string"],"string"]',
    '["tuple",["string",7]]',
    '["tuple",["string","x"]]',
    '["object",{"a":1}]',
    '["object",{"a":"string"},{}]',
    '["object",{"a":"string"},[1]]',
    '["object",{"a":"string"},["a"],[]]',
    '["object",[]]',
    '["object"]',
    '["capsule","string"]',
    '{"list":"string"}',
  ])('%s is none: the value implies one', (declared) => {
    expect(resolveType(declared, '[true]')).toEqual({ type: 'array', detailedType: '["tuple",["bool"]]' })
  })
})

describe('implied types', () => {
  test.each([
    ['"x"', 'string', '"string"'],
    ['-0.5e-3', 'number', '"number"'],
    ['false', 'boolean', '"bool"'],
    ['null', 'string', '"dynamic"'],
    ['[]', 'array', '["tuple",[]]'],
    ['{}', 'object', '["object",{}]'],
    [
      '[1,"]",[null,[]],{}]',
      'array',
      '["tuple",["number","string",["tuple",["dynamic",["tuple",[]]]],["object",{}]]]',
    ],
    [
      '{"b":"\\"}","a":[true],"c":{"d":{}}}',
      'object',
      '["object",{"a":["tuple",["bool"]],"b":"string","c":["object",{"d":["object",{}]}]}]',
    ],
    ['{"a":1,"\\u0061":"x"}', 'object', '["object",{"\\u0061":"string"}]'],
    ['{"__proto__":1}', 'object', '["object",{"__proto__":"number"}]'],
  ])('of %s', (value, type, detailedType) => {
    expect(resolveType(undefined, value)).toEqual({ type, detailedType })
  })

  test('are valid types, and say of every part what it is', { timeout: longTimeout }, () => {
    const typeOf = (value: unknown): unknown => {
      if (value === null) return 'dynamic'
      if (Array.isArray(value)) return ['tuple', value.map(typeOf)]
      if (typeof value === 'boolean') return 'bool'
      if (typeof value !== 'object') return typeof value
      return ['object', Object.fromEntries(Object.entries(value).map(([name, part]) => [name, typeOf(part)]))]
    }
    fc.assert(
      fc.property(valueTokens, (tokens) => {
        const value = tokens.join('')
        const implied = impliedType(value)
        expect(JSON.parse(implied)).toEqual(typeOf(JSON.parse(value)))
        // A declared type must be used as it is: a type implied from the value `0` would be different.
        expect(resolveType(implied, '0').detailedType).toBe(implied)
      }),
      runs(1000, 100_000),
    )
  })

  test('have an end', () => {
    const value = `[${'0,'.repeat(MAX_IMPLIED_TYPE / 12)}0]`
    expect(() => impliedType(value)).toThrow(expect.objectContaining({ code: 'too-large' }))
    expect(impliedType(`[${'0,'.repeat(1000)}0]`)).toBe(`["tuple",[${'"number",'.repeat(1000)}"number"]]`)
  })
})

describe('the type of a masked value', () => {
  test.each([
    ['"string"', '"string"'],
    ['"dynamic"', '"dynamic"'],
    ['["list","number"]', '["list","number"]'],
    ['["tuple",[]]', '"tuple"'],
    ['["tuple",["string",["object",{"pin":"number"}]]]', '"tuple"'],
    ['["object",{"a":"string"},["a"]]', '"object"'],
    ['["map",["object",{"user":"string"}]]', '["map","object"]'],
    ['["set",["list",["map",["tuple",["bool"]]]]]', '["set",["list",["map","tuple"]]]'],
  ])('%s is shown as %s', (detailedType, masked) => {
    expect(maskedType(detailedType)).toBe(masked)
  })
})
