import { useMutation, type UseMutationOptions, type UseMutationResult } from '@tanstack/react-query'
import { useRef } from 'react'

/** What a page changes on the server. While one change is on its way, `mutate` begins no other one. */
export function useChange<Answer, Given = void>(
  options: UseMutationOptions<Answer, Error, Given>,
): UseMutationResult<Answer, Error, Given> {
  // The state of a component is drawn later than a second press may come.
  const isOnItsWay = useRef(false)
  const change = useMutation({
    ...options,
    onSettled: async (...settled) => {
      try {
        await options.onSettled?.(...settled)
      } finally {
        isOnItsWay.current = false
      }
    },
  })
  const { mutate } = change
  return {
    ...change,
    mutate: (...given) => {
      if (isOnItsWay.current) return
      isOnItsWay.current = true
      mutate(...given)
    },
  }
}
