import { createContext, useContext, useId, type ReactNode } from 'react'
import { ApiError } from '../api/errors.ts'
import { Failed } from './states.tsx'

const Refused = createContext<{ readonly error: unknown; readonly id: string }>({ error: null, id: '' })

/** The fields of a form, and below them what the server says if it refuses them. Each refused field refers to that. */
export function Checked({ error, children }: { readonly error: unknown; readonly children: ReactNode }) {
  const id = useId()
  return (
    <>
      <Refused value={{ error, id }}>{children}</Refused>
      {error === null ? null : <Failed error={error} id={id} />}
    </>
  )
}

/** The id of the text that says why the server refused this field, if it did. */
export function useRefused(name: string | undefined): string | undefined {
  const { error, id } = useContext(Refused)
  const isRefused =
    error instanceof ApiError && error.problems.some(({ pointer }) => pointer === `/data/attributes/${name}`)
  return isRefused ? id : undefined
}
