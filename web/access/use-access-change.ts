import { useMutation, useQueryClient } from '@tanstack/react-query'
import { apply } from './changes.ts'

/** Makes a change of access. Everything that is shown is read anew before `onDone`. */
export function useAccessChange(onDone?: () => void) {
  const queries = useQueryClient()
  return useMutation({
    mutationFn: apply,
    onSuccess: async () => {
      await queries.invalidateQueries()
      onDone?.()
    },
  })
}
