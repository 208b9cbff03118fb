/** Whether a host name or address means this machine. IPv6 may be in brackets. */
export function isLoopback(host: string): boolean {
  return ['localhost', '::1', '[::1]'].includes(host) || /^127(\.\d{1,3}){3}$/.test(host)
}
