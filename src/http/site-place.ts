/** The server itself, for routes of its administrators and of the caller's own account. */
export const sitePlace = {
  path: '',
  type: 'site',
  address: () => ({}),
  load: async () => ({ target: {} }),
}
