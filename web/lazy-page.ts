import { lazyRouteComponent } from '@tanstack/react-router'
import { request } from './api/client.ts'
import { ApiError } from './api/errors.ts'

/**
 * A page whose script arrives when the page is opened. If the script is gone, because the server has a newer release, the
 * router loads the document again. Without a connection the browser would show an error page of its own then.
 */
export const lazyPage: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(async () => {
    try {
      return await load()
    } catch (error) {
      throw (await isReachable()) ? error : new Error('the script did not arrive', { cause: error })
    }
  }, name)

/** Loads the document again, if the server can be reached. */
export async function reload(): Promise<void> {
  if (await isReachable()) window.location.reload()
}

/** Also an answer that refuses comes from the server. */
function isReachable(): Promise<boolean> {
  return request('/ping').then(
    () => true,
    (error: unknown) => error instanceof ApiError,
  )
}
