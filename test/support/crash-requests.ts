import { expect } from 'vitest'
import type { Client, Response } from './client.ts'

/** The answer, or undefined if the connection broke. Then the outcome of the request is unknown. */
export async function unlessCut(answer: Promise<Response>): Promise<Response | undefined> {
  try {
    return await answer
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

export type Listed = { id: string; attributes: Record<string, unknown> }

/** All pages of a list. The total must match the number of rows. */
export async function allOf(client: Client, path: string, filter = ''): Promise<Listed[]> {
  const items: Listed[] = []
  for (let page = 1; ; page++) {
    const { json } = await client.get(`${path}?${filter}page%5Bsize%5D=100&page%5Bnumber%5D=${page}`)
    items.push(...(json.data as Listed[]))
    if (json.meta.pagination['next-page'] !== null) continue
    expect(json.meta.pagination['total-count']).toBe(items.length)
    return items
  }
}
