import { useQueryClient } from '@tanstack/react-query'
import { useChange } from '../api/change.ts'
import { apply } from './changes.ts'

/** Makes a change of access. Everything that is shown is read anew before `onDone`. */
export function useAccessChange(onDone?: () => void) {
  const queries = useQueryClient()
  return useChange({
    mutationFn: apply,
    onSuccess: async () => {
      await queries.invalidateQueries()
      onDone?.()
    },
  })
}
