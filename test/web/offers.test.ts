import { beforeAll, describe, expect, test } from 'vitest'
import {
  addressIn,
  declaredAddresses,
  makePageWorld,
  settling,
  WHO,
  type PageWorld,
} from '../support/every-page.ts'
import { usePages } from '../support/pages.ts'

/** What the page offers: the names of its buttons, each with what it is offered for; and what is kept for others. */
const OFFERS = `({
  offered: [...document.querySelectorAll('main button, main [data-offer] summary')].map((one) => [
    one.getAttribute('aria-label') ?? one.textContent,
    [...document.querySelectorAll('[data-offer]')].filter((offer) => offer.contains(one)).map((offer) => offer.dataset.offer),
  ]),
  kept: [...document.querySelectorAll('main [data-kept]')].map((one) => one.dataset.kept),
  isHidden: document.querySelector('main [role=alert]') !== null,
})`
/** Buttons of which everybody has those for their own data. */
const OF_ROWS = /^(Reveal|Hide|Copy|Copied) /

type Offers = {
  readonly offered: readonly (readonly [name: string, offers: readonly string[]])[]
  readonly kept: readonly string[]
  readonly isHidden: boolean
}

describe('what a page offers to an owner', () => {
  const pages = usePages()
  let world: PageWorld
  const seen = new Map<string, Map<string, Offers>>()
  beforeAll(async () => {
    world = await makePageWorld(pages)
  })

  const look = async (who: string): Promise<Map<string, Offers>> => {
    const known = seen.get(who)
    if (known !== undefined) return known
    const { page } = await pages.signIn(who)
    const settled = settling(page)
    const all = new Map<string, Offers>()
    for (const path of declaredAddresses().filter((one) => one.startsWith('/$organization'))) {
      await page.goto(addressIn(pages, world, path))
      await settled()
      all.set(path, await page.evaluate<Offers>(OFFERS))
    }
    seen.set(who, all)
    return all
  }

  test.each(WHO.filter((who) => who !== 'owner'))(
    'is offered to the %s too, or the page says who may do it',
    async (who) => {
      const owners = await look('owner')
      const silent: string[] = []
      let said = 0
      for (const [path, { offered, kept, isHidden }] of await look(who)) {
        said += kept.length
        if (isHidden) continue
        const names = new Set(offered.map(([name]) => name))
        for (const [name, offers] of owners.get(path)?.offered ?? []) {
          if (names.has(name) || OF_ROWS.test(name)) continue
          if (!offers.some((offer) => kept.includes(offer)))
            silent.push(`${path}: ${name} (${offers.join()})`)
        }
      }
      expect(silent).toEqual([])
      if (who === 'reader' || who === 'member') expect(said).toBeGreaterThan(3)
    },
  )
})
