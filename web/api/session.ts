import { queryOptions } from '@tanstack/react-query'
import { pagesOf, related, request, resource, SIGN_IN, type One, type Page } from './client.ts'
import { isStatus } from './errors.ts'

type User = {
  readonly username: string
  readonly 'is-site-admin'?: boolean
  readonly permissions: Readonly<Record<string, boolean>>
}

/** Who has signed in. Fails with 401 if nobody has. */
export const accountQuery = queryOptions({
  queryKey: ['account'],
  queryFn: ({ signal }) => request<One<User>>('/account/details', { signal }),
  staleTime: 60_000,
})

/** What happened to the session in another tab: this user has signed in, or nobody is signed in any more. */
export type SessionNews = { readonly signedIn: string | undefined }

const channel = new BroadcastChannel('purser-session')

/** Calls the listener with what other tabs do to the session. Returns what ends that. */
export function onSessionNews(listener: (news: SessionNews) => void): () => void {
  const hear = ({ data }: MessageEvent<SessionNews>) => listener(data)
  channel.addEventListener('message', hear)
  return () => channel.removeEventListener('message', hear)
}

// oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel has one origin and takes no other
const tellOtherTabs = (news: SessionNews) => channel.postMessage(news)

async function createSession(attributes: object): Promise<string> {
  const { data } = await request<One<object>>(SIGN_IN, {
    method: 'POST',
    body: resource('sessions', attributes),
  })
  const userId = related(data, 'user')?.id ?? ''
  tellOtherTabs({ signedIn: userId })
  return userId
}

/** Returns the id of the user. */
export function signIn(login: string, password: string): Promise<string> {
  return createSession({ login, password })
}

/** Whose password a link sets. The link is not used up. */
export function linkedAccount(link: string): Promise<{ username: string | null; email: string | null }> {
  return request('/password-links/show', { method: 'POST', body: resource('password-links', { link }) })
}

/** Sets a password with a link, and a user name if there is no account yet, and signs in. */
export async function signInByLink(given: {
  readonly link: string
  readonly password: string
  readonly username?: string
  readonly 'keep-tokens'?: boolean
}): Promise<void> {
  await createSession(given)
}

/** Ends the session of this browser, if it has not ended yet. */
export async function signOut(): Promise<void> {
  try {
    await endSession()
  } catch (error) {
    if (!isStatus(error, 401)) throw error
  }
  tellOtherTabs({ signedIn: undefined })
}

type Session = { readonly 'is-current': boolean }

async function endSession(): Promise<void> {
  const { data: user } = await request<One<User>>('/account/details')
  for await (const { data } of pagesOf<Page<Session>>(`/users/${user.id}/sessions`)) {
    const current = data.find(({ attributes }) => attributes['is-current'])
    if (current !== undefined) {
      await request(`/sessions/${current.id}`, { method: 'DELETE' })
      return
    }
  }
}
