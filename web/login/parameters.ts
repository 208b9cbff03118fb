/** The parameters with which `tofu login` and `terraform login` open the page. The server validates them. */
export const loginParameters = [
  'client_id',
  'response_type',
  'redirect_uri',
  'code_challenge',
  'code_challenge_method',
  'state',
] as const

export type LoginSearch = { readonly [Name in (typeof loginParameters)[number]]?: string }

/** Their texts in an address. */
export function loginSearch(given: Record<string, unknown>): LoginSearch {
  return Object.fromEntries(
    loginParameters.flatMap((name) => {
      const value = given[name]
      return typeof value === 'string' || typeof value === 'number' ? [[name, String(value)]] : []
    }),
  )
}
