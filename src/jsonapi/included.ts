import { AppError } from '../core/errors.ts'

const MAX_INCLUDED = 20_000

/** Refuses a list that would include too many resources in one answer. A single resource is never refused. */
export function checkIncluded(listed: number, included: number): void {
  if (listed <= 1 || included <= MAX_INCLUDED) return
  const detail = `more than ${MAX_INCLUDED} resources would be included; request smaller pages`
  throw new AppError('invalid-include', [{ detail, parameter: 'include' }])
}
