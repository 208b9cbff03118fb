import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { AppError } from '../src/core/errors.ts'
import { parseResource } from '../src/jsonapi/body.ts'
import { Base64Content } from '../src/state-uploads/base64-content.ts'
import { readNewStateVersion } from '../src/state-uploads/new-state-version.ts'
import { newStateVersionBody } from '../src/state-versions/state-versions.ts'
import { longTimeout, runs } from './support/runs.ts'

/** What a turn of the event loop reads. */
const SLICE = 64 * 1024
const MIB = 1024 * 1024
const contentNames = ['state', 'json-state', 'json-state-outputs'] as const
type Outcome = { problems: unknown } | { given: object; content: (string | undefined)[] }

async function outcomeOf(read: () => Promise<Outcome> | Outcome): Promise<Outcome> {
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    return { problems: error.problems }
  }
}

function scanned(bytes: Buffer): Promise<Outcome> {
  return outcomeOf(async () => {
    const { content, ...given } = await readNewStateVersion(bytes)
    return {
      given,
      content: contentNames.map((name) => {
        const found = content[name]
        return found?.whole().toString('hex')
      }),
    }
  })
}

/** The same result by parsing the whole body. */
function parsed(bytes: Buffer): Promise<Outcome> {
  return outcomeOf(() => {
    const { attributes } = parseResource(bytes, newStateVersionBody)
    return {
      given: {
        serial: attributes.serial,
        md5: attributes.md5?.toLowerCase(),
        lineage: attributes.lineage?.toWellFormed() || null,
        force: attributes.force ?? false,
        isIntermediate: attributes.intermediate ?? false,
      },
      content: contentNames.map((name) => {
        const text = attributes[name]
        return text ? Buffer.from(text, 'base64').toString('hex') : undefined
      }),
    }
  })
}

/** A string as JSON, with some characters escaped in one of the possible ways. */
const written = (text: fc.Arbitrary<string>) =>
  fc.tuple(text, fc.nat()).map(([plain, seed]) => {
    const parts = Array.from(plain, (character, place) => {
      const code = `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
      if ((seed >> (place % 30)) % 7 === 1) return code
      if (character === '/' && seed % 2 === 0) return '\\/'
      return JSON.stringify(character).slice(1, -1)
    })
    return `"${parts.join('')}"`
  })
const space = fc.constantFrom('', '', ' ', '\n\t')
/** Half of the objects begin with valid members. Later members may make them invalid again. */
const ofMembers = (members: fc.Arbitrary<[string, string]>, most: number, good: [string, string][] = []) =>
  fc
    .tuple(fc.array(members, { minLength: 1, maxLength: most }), space, fc.boolean())
    .map(([list, gap, isGood]) => {
      const all = [...(isGood ? good : []), ...list]
      return `{${gap}${all.map(([name, value]) => `${name}${gap}:${value}`).join(`${gap},`)}}`
    })
const named = (name: string, value: fc.Arbitrary<string>) =>
  fc.tuple(fc.oneof(fc.constant(JSON.stringify(name)), written(fc.constant(name))), value)
const anything = fc.oneof(
  fc.json({ maxDepth: 3 }),
  fc.constantFrom('null', '0', '""', '[]', '{}', '{"a":{}}', '"\\ud800"', '1e3', '-0'),
)
const base64 = written(
  fc.oneof(
    { weight: 6, arbitrary: fc.base64String() },
    fc.string({ unit: fc.constantFrom('A', 'a', '0', '+', '/', '=', ' ', '\n', '!', '-', '\u00e9', '\\') }),
    fc
      .tuple(fc.base64String(), fc.constantFrom(' ', '\n', '=', '==', '===', '= ='))
      .map((all) => all.join('')),
  ),
)
const attribute = fc.oneof(
  {
    weight: 4,
    arbitrary: named(
      'serial',
      fc.constantFrom('1', '7', '8', '9', '10', '1.0', '-1', '9007199254740992', '"1"'),
    ),
  },
  {
    weight: 4,
    arbitrary: named('md5', fc.constantFrom(`"${'aB'.repeat(16)}"`, `"${'0'.repeat(32)}"`, '"x"')),
  },
  named(
    'lineage',
    fc.oneof({ weight: 8, arbitrary: written(fc.string()) }, anything, fc.constant(`"${'l'.repeat(9_000)}"`)),
  ),
  named('force', fc.constantFrom('true', 'false', 'null', 'true', 'false', '1')),
  named('intermediate', fc.constantFrom('true', 'null', '[]')),
  ...contentNames.map((name) => ({
    weight: 2,
    arbitrary: named(name, fc.oneof({ weight: 8, arbitrary: base64 }, anything)),
  })),
  named('__proto__', anything),
  named('other', anything),
)
const attributes = ofMembers(attribute, 6, [
  ['"serial"', '3'],
  ['"md5"', `"${'0'.repeat(32)}"`],
])
const data = ofMembers(
  fc.oneof(
    {
      weight: 3,
      arbitrary: named('type', fc.constantFrom(...Array<string>(5).fill('"state-versions"'), '"x"')),
    },
    { weight: 4, arbitrary: named('attributes', fc.oneof({ weight: 8, arbitrary: attributes }, anything)) },
    named('id', anything),
    named('relationships', fc.oneof(fc.constant('{}'), anything)),
    named('other', anything),
  ),
  4,
  [['"type"', '"state-versions"']],
)
const text = fc.oneof(
  {
    weight: 9,
    arbitrary: ofMembers(
      fc.oneof(
        { weight: 4, arbitrary: named('data', fc.oneof({ weight: 9, arbitrary: data }, anything)) },
        named('other', anything),
      ),
      3,
    ),
  },
  anything,
)

/** In one case of ten the body is cut off. */
const cutAt = fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.nat() })

describe('the body of a new state version', () => {
  test(
    'means the same scanned as parsed',
    async () => {
      let taken = 0
      await fc.assert(
        fc.asyncProperty(text, cutAt, fc.boolean(), async (whole, cut, hasMark) => {
          const all = Buffer.from(hasMark ? `\ufeff${whole}` : whole)
          const bytes = cut === null ? all : all.subarray(0, cut % (all.length + 1))
          const outcome = await scanned(bytes)
          if ('given' in outcome) taken++
          expect(outcome).toEqual(await parsed(bytes))
        }),
        runs(2_000, 200_000),
      )
      expect(taken).toBeGreaterThan(20)
    },
    longTimeout,
  )

  test('is read in slices, with turns for others in between, and its content too', async () => {
    const state = 'eHh4'.repeat((6 * MIB) / 4)
    const ignored = '[],{},'.repeat((6 * MIB) / 6)
    const attributes = `{"serial":1,"md5":"${'0'.repeat(32)}","state":"${state}","json-state":"\\u0065Hg\\u003d"}`
    const bytes = Buffer.from(
      `{"x":[${ignored}0],"data":{"type":"state-versions","attributes":${attributes}}}`,
    )
    let turns = 0
    const turn = () => {
      turns++
      next = setImmediate(turn)
    }
    let next = setImmediate(turn)
    const { content } = await readNewStateVersion(bytes)
    // 12 MiB are scanned and 6 MiB are checked, 64 KiB in each turn.
    expect(turns).toBeGreaterThanOrEqual((18 * MIB) / SLICE)
    turns = 0
    let decoded = 0
    for await (const piece of content.state?.pieces() ?? []) {
      expect(piece.length).toBeLessThanOrEqual(SLICE)
      decoded += piece.length
    }
    clearImmediate(next)
    expect(decoded).toBe((6 * MIB * 3) / 4)
    expect(turns).toBeGreaterThanOrEqual((6 * MIB) / SLICE)
    expect(content['json-state']?.whole().toString()).toBe('xx')
  })

  test.each([' ', 'e ', '\\n', 'eHh4\\n'])(
    'content of %j is decoded in turns, also where its white space is nothing',
    async (text) => {
      const content = new Base64Content(Buffer.from(text.repeat((2 * MIB) / text.length)))
      let turns = 0
      const turn = () => {
        turns++
        next = setImmediate(turn)
      }
      let next = setImmediate(turn)
      for await (const _ of content.pieces()) continue
      clearImmediate(next)
      expect(turns).toBeGreaterThanOrEqual((2 * MIB) / SLICE - 1)
    },
  )
})
