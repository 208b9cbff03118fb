import { queryOptions } from '@tanstack/react-query'
import { request, resource, type One } from './client.ts'

type User = { readonly username: string; readonly 'is-site-admin'?: boolean }

/** Who has signed in. Fails with 401 if nobody has. */
export const accountQuery = queryOptions({
  queryKey: ['account'],
  queryFn: ({ signal }) => request<One<User>>('/account/details', { signal }),
  staleTime: 60_000,
})

export async function signIn(login: string, password: string): Promise<void> {
  await request('/sessions', { method: 'POST', body: resource('sessions', { login, password }) })
}

/** Sets a password with a link, and a user name if there is no account yet, and signs in. */
export async function signInByLink(given: {
  readonly link: string
  readonly password: string
  readonly username?: string
}): Promise<void> {
  await request('/sessions', { method: 'POST', body: resource('sessions', given) })
}

/** Ends the session of this browser. */
export async function signOut(): Promise<void> {
  const { data: user } = await request<One<User>>('/account/details')
  const { data: sessions } = await request<{ data: { id: string; attributes: { 'is-current': boolean } }[] }>(
    `/users/${user.id}/sessions?page[size]=100`,
  )
  const current = sessions.find(({ attributes }) => attributes['is-current'])
  if (current !== undefined) await request(`/sessions/${current.id}`, { method: 'DELETE' })
}
